"""What the compiler hands on: one command stream with its weights and the places of its tensors."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NewType

Bytes = NewType("Bytes", int)  #: a size in bytes

MAC_COUNTS = (128, 256, 512, 1024, 2048)
"""The Ethos-U85 configurations, in 8-bit MACs per cycle."""


@dataclass(frozen=True)
class Quantization:
    """real = scale * (value - zero_point), one pair for the whole tensor."""

    scale: float
    zero_point: int


@dataclass(frozen=True)
class Tensor:
    """A network input or output as the NPU sees it.

    `shape` is the shape in the model file; `offset` is in bytes from the start of the region's base pointer.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str  #: numpy name: "int8", "uint8", "int16", "int32"
    region: int
    offset: Bytes
    size: Bytes
    quantization: Quantization | None = None


@dataclass(frozen=True)
class CompiledModel:
    """A model compiled for direct drive on one Ethos-U85 configuration.

    Base pointers while it runs: 0 weights, 1 scratch, 2 NPU SRAM, 3 inputs, 4 outputs
    (Vela `--cop-format COP2 --separate-io-regions`).
    """

    name: str
    source_sha256: str  #: of the model file the user named
    macs: int
    command_stream: bytes  #: the whole COP2 payload, as it is given to network creation
    weights: bytes  #: region 0; may be empty
    scratch_size: Bytes  #: region 1; may be 0
    scratch_fast_size: Bytes  #: region 2, the NPU SRAM; 0 unless a Dedicated_Sram mode is used
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    vela_version: str  #: "" when a precompiled model does not say
    vela_options: tuple[str, ...]
    tflite: bytes | None  #: the uncompiled model, from which reference outputs come; None when precompiled

    @property
    def stream_sha256(self) -> str:
        """Digest of command stream and weights: two compilations that run alike have the same."""
        return hashlib.sha256(self.command_stream + self.weights).hexdigest()
