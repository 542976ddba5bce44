"""What the compiler hands on: one command stream with its weights and the places of its tensors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NewType

from harness.errors import UsageError

Bytes = NewType("Bytes", int)  #: a size in bytes

SCRATCH_REGION, NPU_SRAM_REGION, INPUT_REGION, OUTPUT_REGION = 1, 2, 3, 4
"""Base pointers of a command stream; constants have region 0."""

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
class Variable(Tensor):
    """A tensor that an inference finds as the one before it has left it: the state of a recurrent layer."""

    initial: bytes = field(kw_only=True)  #: what it holds before the first inference


@dataclass(frozen=True)
class CompiledModel:
    """A model compiled for one Ethos-U85 configuration.

    Its inputs and outputs lie in regions of their own (Vela `--separate-io-regions`), or all in scratch.
    Variables lie in scratch.
    """

    name: str
    source_sha256: str  #: of the model file the user named
    macs: int
    command_stream: bytes  #: the whole payload, COP1 or COP2, as it is given to network creation
    weights: bytes  #: region 0; may be empty
    scratch_size: Bytes  #: region 1; may be 0
    scratch_fast_size: Bytes  #: region 2, the NPU SRAM; 0 unless a Dedicated_Sram mode is used
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    vela_version: str  #: "" when a precompiled model does not say
    vela_options: tuple[str, ...]
    tflite: bytes | None  #: the uncompiled model, from which reference outputs come; None without a .tflite
    tosa: bytes | None = None  #: the same of a .tosa file
    variables: tuple[Variable, ...] = ()

    @property
    def io_is_in_scratch(self) -> bool:
        """Whether inputs and outputs are parts of the scratch memory, as ExecuTorch has them."""
        return all(tensor.region == SCRATCH_REGION for tensor in (*self.inputs, *self.outputs))

    @property
    def stream_sha256(self) -> str:
        """Digest of command stream and weights: two compilations that run alike have the same."""
        return hashlib.sha256(self.command_stream + self.weights).hexdigest()


def common_macs(models: Iterable[CompiledModel]) -> int:
    """The MAC count of models that one board is to run.  Raises UsageError when they are for several."""
    counts = {model.name: model.macs for model in models}
    if len(set(counts.values())) != 1:
        listed = ", ".join(f"{name}: {macs}" for name, macs in counts.items())
        raise UsageError(
            f"a board has one MAC count for a boot, and these models are for several ({listed})",
            hint="compare them one after the other",
        )
    return next(iter(counts.values()))
