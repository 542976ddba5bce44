"""The state that SET commands leave for the operations after them."""

from __future__ import annotations

from collections.abc import Mapping

from harness.sim.npu.faults import CommandError
from harness.sim.npu.stream import Command, E


class Registers:
    """Registers by name, each as the command that set it last.  One that was never set cannot be read.

    Those of one stream are equal when the same commands have set them.
    """

    def __init__(self, commands: Mapping[str, Command] | None = None) -> None:
        self._commands = dict(commands or {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Registers) and self._places == other._places

    def __hash__(self) -> int:
        return hash(self._places)

    @property
    def _places(self) -> frozenset[tuple[str, int]]:
        return frozenset((name, command.offset) for name, command in self._commands.items())

    def copy(self) -> Registers:
        """Return the same registers, to be set further apart from these."""
        return Registers(self._commands)

    def set(self, command: Command) -> None:
        """Carry out one SET command."""
        self._commands[command.name] = command

    def value(self, register: str, field: str = "value") -> int:
        """Return a field, unsigned.  Raises CommandError when the register was never set."""
        return self._command(register).fields[field]

    @property
    def block_dependency(self) -> int:
        """BLOCKDEP; 0, the value that is always safe, while it was never set."""
        command = self._commands.get("BLOCKDEP")
        return 0 if command is None else command.fields["value"]

    def signed(self, register: str, bits: int = 16) -> int:
        """Return a register of `bits` bits as a signed number.  Raises CommandError like `value`."""
        value = self.value(register)
        return value - (value >> (bits - 1) << bits)

    def enum(self, kind: type[E], register: str, field: str = "value") -> E:
        """Return a field as a member of `kind`.  Raises CommandError, also for a value without a meaning."""
        return self._command(register).enum(kind, field)

    def _command(self, register: str) -> Command:
        try:
            return self._commands[register]
        except KeyError:
            raise CommandError(f"{register} is needed and was never set") from None
