"""What an oracle is asked: a network's inputs as arrays, the samples along an added first dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import ModelError
from harness.models.tflite_file import FileTensor

AnyArray = npt.NDArray[Any]  #: of the type its tensor has
OutputBytes = tuple[bytes, ...]  #: one entry per network output


class NoReferenceError(ModelError):
    """The oracle has no answer: it lacks an operator, or calls what an input leads to unpredictable."""


def input_arrays(
    name: str, tensors: Sequence[FileTensor], samples: Sequence[Sequence[bytes]]
) -> list[AnyArray]:
    """One array per network input. Raises ModelError for a sample that does not fit the inputs."""
    for sample in samples:
        if [len(values) for values in sample] != [tensor.size for tensor in tensors]:
            raise ModelError(
                f"{name} takes inputs of {[tensor.size for tensor in tensors]} bytes, "
                f"not of {[len(values) for values in sample]}"
            )
    return [
        np.frombuffer(b"".join(column), dtype=tensor.dtype).reshape(len(samples), *tensor.shape)
        for column, tensor in zip(zip(*samples, strict=True), tensors, strict=True)
    ]


def outputs_by_sample(columns: Sequence[AnyArray], samples: int) -> tuple[OutputBytes, ...]:
    """For each sample its outputs, from one array per network output."""
    return tuple(tuple(column[sample].tobytes() for column in columns) for sample in range(samples))
