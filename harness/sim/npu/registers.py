"""The state that SET commands leave for the operations after them."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeVar

from harness.sim.npu.faults import CommandError
from harness.sim.npu.stream import Command

E = TypeVar("E", bound=IntEnum)


class Registers:
    """Register fields by name.  A register that no command has set cannot be read."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, int]] = {}

    def set(self, command: Command) -> None:
        """Carry out one SET command."""
        self._values[command.name] = command.fields

    def value(self, register: str, field: str = "value") -> int:
        """Return a field, unsigned.  Raises CommandError when the register was never set."""
        try:
            return self._values[register][field]
        except KeyError:
            raise CommandError(f"{register} is needed and was never set") from None

    def signed(self, register: str, bits: int = 16) -> int:
        """Return a field of `bits` bits as a two's complement number."""
        value = self.value(register)
        return value - (value >> (bits - 1) << bits)

    def enum(self, kind: type[E], register: str, field: str = "value") -> E:
        """Return a field as a member of `kind`.  Raises CommandError for a value that has no meaning."""
        value = self.value(register, field)
        try:
            return kind(value)
        except ValueError:
            raise CommandError(f"{register}.{field} has the undefined value {value}") from None
