"""Where the outputs of one input first differ: the region of the tensor, and the bytes around it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.models.compiled import CompiledModel, Tensor
from harness.plan import Mode
from harness.results.run_record import CellRecord, Inference, RunRecord

CONTEXT_BYTES = 8
"""How many bytes are shown on either side of the first difference."""


@dataclass(frozen=True)
class ShownByte:
    """One byte of both outputs."""

    before: int
    after: int


@dataclass(frozen=True)
class TensorRegion:
    """The part of a tensor that differs."""

    tensor: Tensor
    offset: int  #: in bytes, of the first byte that differs
    element: tuple[int, ...]  #: index of the first element that differs
    bounds: tuple[tuple[int, int], ...]  #: for each dimension, the first and the last index that differ
    elements: int  #: how many elements differ
    context_offset: int  #: in bytes, of the first byte of `context`
    context: tuple[ShownByte, ...]

    @property
    def total(self) -> int:
        """Elements of the tensor."""
        return math.prod(self.tensor.shape)


@dataclass(frozen=True)
class OutputDifference:
    """The first output of a run that is not what the same input gave earlier."""

    input: str  #: label of the input set
    before: Mode  #: where the input was run first
    before_index: int  #: of the inference
    after: Mode  #: where it gave another output
    after_index: int
    region: TensorRegion


def first_output_difference(run: RunRecord, compiled: CompiledModel) -> OutputDifference | None:
    """The first difference in the order of the run; None where every input always gave the same outputs."""
    earliest: dict[str, tuple[CellRecord, Inference]] = {}
    for cell, inference in _completed(run):
        first_cell, first = earliest.setdefault(inference.input, (cell, inference))
        for tensor, before, after in zip(compiled.outputs, first.outputs, inference.outputs, strict=True):
            if before != after:
                return OutputDifference(
                    input=inference.input,
                    before=first_cell.mode,
                    before_index=first.index,
                    after=cell.mode,
                    after_index=inference.index,
                    region=locate(tensor, before, after),
                )
    return None


def _completed(run: RunRecord) -> Iterator[tuple[CellRecord, Inference]]:
    for cell in run.cells:
        for inference in cell.inferences:
            if inference.status == "ok":
                yield cell, inference


def locate(tensor: Tensor, before: bytes, after: bytes) -> TensorRegion:
    """Where two contents of one tensor differ; they must, and have the tensor's size.

    Bytes are compared, not values: a NaN is equal to itself here, and 0.0 is not -0.0.
    """
    differ = np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)
    elements = differ.reshape(-1, np.dtype(tensor.dtype).itemsize).any(axis=1)
    indices = np.argwhere(elements.reshape(tensor.shape))
    offset = int(differ.argmax())
    start = max(0, offset - CONTEXT_BYTES)
    shown = slice(start, offset + CONTEXT_BYTES + 1)
    return TensorRegion(
        tensor=tensor,
        offset=offset,
        element=tuple(indices[0].tolist()),
        bounds=tuple(zip(indices.min(axis=0).tolist(), indices.max(axis=0).tolist(), strict=True)),
        elements=len(indices),
        context_offset=start,
        context=tuple(ShownByte(a, b) for a, b in zip(before[shown], after[shown], strict=True)),
    )
