"""Where the compiler put each input and output, and what the model file says of the same tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from harness.errors import ModelError
from harness.models.compiled import Bytes, Tensor
from harness.models.tflite_file import FileTensor


@dataclass(frozen=True)
class Placement:
    """Where one input or output lies; in raw output `shape` has leading ones up to six dimensions."""

    shape: tuple[int, ...]
    element_size: int  #: bytes
    region: int
    offset: Bytes

    @property
    def size(self) -> Bytes:
        """Size in bytes."""
        return Bytes(prod(self.shape) * self.element_size)


def place_tensors(
    name: str, kind: str, tensors: Sequence[FileTensor], placements: Sequence[Placement]
) -> tuple[Tensor, ...]:
    """The inputs or outputs of the model `name`; `kind` is "input" or "output", for messages.

    Raises ModelError when file and compiler differ in their number or in a size.
    """
    if len(tensors) != len(placements):
        raise ModelError(
            f"{name} has {len(tensors)} {kind}s, but its compiled network has {len(placements)}",
            hint="the compiler drops inputs that no output depends on, and outputs that no operator makes",
        )
    placed = []
    for tensor, placement in zip(tensors, placements, strict=True):
        if tensor.size != placement.size:
            raise ModelError(
                f"{name}: {kind} {tensor.name!r} has {tensor.size} bytes in the model file "
                f"and {placement.size} on the NPU"
            )
        placed.append(
            Tensor(
                name=tensor.name,
                shape=tensor.shape,
                dtype=tensor.dtype,
                region=placement.region,
                offset=placement.offset,
                size=placement.size,
                quantization=tensor.quantization,
            )
        )
    return tuple(placed)
