"""What a network is fed: named sets of input tensors, and the standard ones every network gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.models.compiled import CompiledModel
from harness.models.seeded import seeded_bytes


@dataclass(frozen=True)
class InputSet:
    """One named set of input tensors: raw bytes, one entry per network input, in the model's order."""

    label: str
    tensors: tuple[bytes, ...]


def standard_inputs(compiled: CompiledModel) -> tuple[InputSet, InputSet]:
    """The input sets A and B: seeded, over the whole range of each tensor's type.

    They depend on each input's position and size alone, so a network and its compiled forms get the same.
    Truth values are 0 and 1, where the file says that an input has some.
    """
    sizes = [tensor.size for tensor in compiled.inputs]
    first, second = seeded_inputs(sizes, "A"), seeded_inputs(sizes, "B")
    return _with_truth_values(compiled, first), _with_truth_values(compiled, second)


def _with_truth_values(compiled: CompiledModel, inputs: InputSet) -> InputSet:
    pairs = zip(compiled.inputs, inputs.tensors, strict=True)
    return InputSet(
        inputs.label,
        tuple(
            bytes(value & 1 for value in data) if tensor.dtype == "bool" else data for tensor, data in pairs
        ),
    )


def seeded_inputs(sizes: Sequence[int], label: str) -> InputSet:
    """One input set, from the size of each network input in bytes; another label gives other values."""
    tensors = (seeded_bytes(f"input {index} of set {label}", size) for index, size in enumerate(sizes))
    return InputSet(label, tuple(tensors))
