"""Where two compiled models differ first: in their command streams, or in their weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from harness.models.compiled import CompiledModel
from harness.npu_tools.disassembly import Instruction, disassemble
from harness.npu_tools.layers import Layers, origin
from harness.sim.npu import parse_payload

CONTEXT = 4  #: commands shown before the one that differs


@dataclass(frozen=True)
class FieldChange:
    """A field of one command, in both streams."""

    field: str
    left: str
    right: str


@dataclass(frozen=True)
class Difference:
    """Where two streams part; None stands for a stream that has ended."""

    before: tuple[Instruction, ...]  #: the last commands that are equal
    left: Instruction | None
    right: Instruction | None
    operation: Instruction | None  #: the first operation of the left stream that the difference has a part in

    @property
    def fields(self) -> tuple[FieldChange, ...]:
        """The fields that differ; none when the commands themselves are different ones."""
        if self.left is None or self.right is None or self.left.name != self.right.name:
            return ()
        pairs = zip(self.left.fields, self.right.fields, strict=True)
        return tuple(FieldChange(name, old, new) for (name, old), (_, new) in pairs if old != new)


def first_difference(
    left: Sequence[Instruction], right: Sequence[Instruction], context: int = CONTEXT
) -> Difference | None:
    """Where the streams differ first, with up to `context` commands before it; None when they are equal."""
    for index, (a, b) in enumerate(zip_longest(left, right)):
        if a != b:
            operation = next((later for later in left[index:] if later.operation), None)
            return Difference(tuple(left[max(0, index - context) : index]), a, b, operation)
    return None


def first_different_byte(left: bytes, right: bytes) -> int | None:
    """Where two blobs differ first, or the shorter one ends; None when they are equal."""
    if left == right:
        return None
    shorter = min(len(left), len(right))
    return next((index for index in range(shorter) if left[index] != right[index]), shorter)


@dataclass(frozen=True)
class Comparison:
    """Two compiled models held against each other."""

    left: CompiledModel
    right: CompiledModel
    stream: Difference | None
    weights: int | None  #: offset of the first byte that differs

    @property
    def equal(self) -> bool:
        """Whether both are made for the same NPU and would do the same."""
        return self.stream is None and self.weights is None and self.left.macs == self.right.macs

    def lines(self, layers: Layers) -> Iterator[str]:
        """What there is to say, for people; `layers` are those of the left model."""
        if self.left.macs != self.right.macs:
            yield f"made for different NPUs: {self.left.macs} and {self.right.macs} MACs"
        if self.stream is None:
            yield "the command streams are equal"
        else:
            yield from _stream_lines(self.stream, layers)
        if self.weights is not None:
            sizes = f"{len(self.left.weights)} and {len(self.right.weights)} bytes"
            yield f"the weights differ from byte {self.weights:#x} on ({sizes})"
        elif self.stream is None:
            yield "the weights are equal"


def compare_models(left: CompiledModel, right: CompiledModel) -> Comparison:
    """Compare streams and weights.  Raises ModelError for a stream with a word that is no command."""
    old, new = (
        tuple(disassemble(model.name, parse_payload(model.command_stream).stream)) for model in (left, right)
    )
    weights = first_different_byte(left.weights, right.weights)
    return Comparison(left, right, first_difference(old, new), weights)


def _stream_lines(difference: Difference, layers: Layers) -> Iterator[str]:
    if (found := difference.operation) is not None:
        yield f"the command streams differ before {origin(found.operation, found.offset, layers)}"
    else:
        yield "the command streams differ after the last operation"
    yield from (f"  {instruction}" for instruction in difference.before)
    for sign, instruction in (("-", difference.left), ("+", difference.right)):
        yield f"{sign} {'the stream has ended' if instruction is None else instruction}"
    for change in difference.fields:
        yield f"  {change.field}: {change.left} -> {change.right}"
