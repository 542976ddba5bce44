"""A command stream's words, one command at a time, in the order in which the NPU meets them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import BranchError, CommandError, FaultKind, NpuFault
from harness.sim.npu.opcodes import CMD0, CMD1, CONTROL_BITS, CONTROL_SHIFT, OPCODE_BITS, Condition, Encoding

E = TypeVar("E", bound=IntEnum)

_LONG = 1  #: control value of a command with a payload word


@dataclass(frozen=True)
class Command:
    """One decoded command; `offset` counts bytes from the start of the stream."""

    offset: int
    encoding: Encoding
    fields: dict[str, int]

    @property
    def name(self) -> str:
        """The register that is set, or the operation that is started."""
        return self.encoding.name

    def enum(self, kind: type[E], field: str) -> E:
        """Return a field as a member of `kind`.  Raises CommandError for a value that has no meaning."""
        try:
            return kind(self.fields[field])
        except ValueError:
            value = self.fields[field]
            raise CommandError(f"{self.name}.{field} has the undefined value {value}") from None


def decode_command(words: NDArray[np.uint32], index: int) -> tuple[Command, int]:
    """Decode the command at word `index`; return it with the index of the word that follows.

    Raises CommandError for a word that is no command, and for one whose reserved bits are not zero.
    """
    word = int(words[index])
    control = word >> CONTROL_SHIFT & ((1 << CONTROL_BITS) - 1)
    opcode = word & ((1 << OPCODE_BITS) - 1)
    encoding = {0: CMD0, _LONG: CMD1}.get(control, {}).get(opcode)
    if encoding is None:
        raise CommandError(f"no such command (control {control}, opcode {opcode})")
    length = 1 + (control == _LONG)
    if index + length > len(words):
        raise CommandError(f"{encoding.name} is cut off by the end of the stream")
    if control == _LONG:
        word |= int(words[index + 1]) << 32
    if word & ~encoding.mask & ~(control << CONTROL_SHIFT | opcode):
        raise CommandError(f"{encoding.name} has reserved bits set")
    return Command(4 * index, encoding, encoding.unpack(word)), index + length


def trace(stream: bytes) -> Iterator[Command | NpuFault]:
    """Yield the commands from the start to OP_STOP, following jumps.

    Only unconditional jumps can be followed: nothing public says which operation sets the flag a conditional
    one asks for.  The last item is OP_STOP, or the fault that keeps the NPU from getting there.
    """
    words = np.frombuffer(stream, dtype="<u4", count=len(stream) // 4)
    index = 0
    visited: set[int] = set()
    while index < len(words):
        offset = 4 * index
        name = f"word {int(words[index]):#010x}"
        try:
            command, index = decode_command(words, index)
            name = command.name
            if name == "OP_BRANCH":
                index = _branch_target(command, len(stream), visited)
        except CommandError as error:
            yield NpuFault(FaultKind.PARSE, offset, name, str(error))
            return
        except BranchError as error:
            yield NpuFault(FaultKind.BRANCH, offset, name, str(error))
            return
        yield command
        if name == "OP_STOP":
            return
    yield NpuFault(FaultKind.PARSE, 4 * index, "end of stream", "the stream ends without OP_STOP")


def _branch_target(command: Command, stream_size: int, visited: set[int]) -> int:
    target = command.fields["target"]
    if command.fields["condition"] != Condition.ALWAYS:
        raise BranchError("conditional jumps are not modelled")
    if target % 4 or target >= stream_size:
        raise BranchError(f"target {target:#x} is not a command of this stream of {stream_size} bytes")
    if command.offset in visited:
        raise BranchError("the stream jumps in a circle and would never end")
    visited.add(command.offset)
    return target // 4
