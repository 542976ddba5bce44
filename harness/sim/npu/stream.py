"""A command stream's words, one command at a time, in the order in which the NPU meets them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import BranchError, CommandError, FaultKind, NpuFault
from harness.sim.npu.opcodes import CMD0, CMD1, CONTROL_BITS, CONTROL_SHIFT, OPCODE_BITS, Condition, Encoding

E = TypeVar("E", bound=IntEnum)

KEPT_COMMANDS = 4096
"""How many commands are kept decoded: streams give most of their registers the same few values."""

_LONG = 1  #: control value of a command with a payload word
_OPCODE = (1 << OPCODE_BITS) - 1
_KIND = ((1 << CONTROL_BITS) - 1) << CONTROL_SHIFT | _OPCODE  #: the bits that say which command it is


class Command(NamedTuple):
    """One decoded command; `offset` counts bytes from the start of the stream."""

    offset: int
    encoding: Encoding
    fields: Mapping[str, int]

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


def decode_command(words: Sequence[int] | NDArray[np.uint32], index: int) -> tuple[Command, int]:
    """Decode the command at word `index`; return it with the index of the word that follows.

    Raises CommandError for a word that is no command, and for one whose reserved bits are not zero.
    """
    word = int(words[index])
    following = index + 1
    if _control(word) == _LONG:
        if following == len(words):
            raise CommandError(f"{_encoding(word).name} is cut off by the end of the stream")
        word |= int(words[following]) << 32
        following += 1
    return Command(4 * index, *_decoded(word)), following


@lru_cache(maxsize=KEPT_COMMANDS)
def _decoded(word: int) -> tuple[Encoding, Mapping[str, int]]:
    """Return what a command is and what it says; `word` has its payload in bits 32-63."""
    encoding = _encoding(word)
    if word & ~encoding.mask & ~_KIND:
        raise CommandError(f"{encoding.name} has reserved bits set")
    return encoding, encoding.unpack(word)


def _encoding(word: int) -> Encoding:
    control, opcode = _control(word), word & _OPCODE
    encoding = {0: CMD0, _LONG: CMD1}.get(control, {}).get(opcode)
    if encoding is None:
        raise CommandError(f"no such command (control {control}, opcode {opcode})")
    return encoding


def _control(word: int) -> int:
    return word >> CONTROL_SHIFT & ((1 << CONTROL_BITS) - 1)


def is_conditional(command: Command) -> bool:
    """Return whether a command jumps only if the last result says so."""
    return command.name == "OP_BRANCH" and command.fields["condition"] != Condition.ALWAYS


def trace(stream: bytes, start: int = 0) -> Iterator[Command | NpuFault]:
    """Yield the commands from byte `start` to OP_STOP, following jumps, up to one that has a condition.

    The last item is OP_STOP, the conditional jump, or the fault that keeps the NPU from getting there.
    """
    words = np.frombuffer(stream, dtype="<u4", count=len(stream) // 4).tolist()
    index = start // 4
    visited: set[int] = set()
    while index < len(words):
        offset = 4 * index
        name = f"word {words[index]:#010x}"
        try:
            command, index = decode_command(words, index)
            name = command.name
            if name == "OP_BRANCH":
                target = _branch_target(command, len(stream), visited)
                index = index if is_conditional(command) else target
        except CommandError as error:
            yield NpuFault(FaultKind.PARSE, offset, name, str(error))
            return
        except BranchError as error:
            yield NpuFault(FaultKind.BRANCH, offset, name, str(error))
            return
        yield command
        if name == "OP_STOP" or is_conditional(command):
            return
    yield NpuFault(FaultKind.PARSE, 4 * index, "end of stream", "the stream ends without OP_STOP")


def _branch_target(command: Command, stream_size: int, visited: set[int]) -> int:
    target = command.fields["target"]
    if target % 4 or target >= stream_size:
        raise BranchError(f"target {target:#x} is not a command of this stream of {stream_size} bytes")
    if command.offset in visited:
        raise BranchError("the stream jumps in a circle and would never end")
    visited.add(command.offset)
    return target // 4
