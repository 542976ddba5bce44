"""Weights, biases and scales: read from memory at every run, decoded only when they have changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import Rounding
from harness.sim.npu.registers import Registers
from harness.sim.npu.scaling import Scale, Shift
from harness.sim.npu.weights import Traversal, WeightError, WeightLayout, decode_scales, decode_weights

Decoded = TypeVar("Decoded")

CACHED_MATRICES = 256
"""How many operations' decoded weights are kept, whichever stream they belong to."""


@dataclass(frozen=True)
class Span:
    """A range of bytes in a memory region."""

    region: int
    offset: int
    size: int


class Stored(Generic[Decoded]):
    """Something that memory holds in coded form.

    The bytes are read at every use, and decoded only when they differ from the last time.
    """

    def __init__(
        self, spans: tuple[Span, ...], channel: Channel, decode: Callable[[tuple[bytes, ...]], Decoded]
    ) -> None:
        self.spans = spans
        self._channel = channel
        self._decode = decode
        self._last: tuple[tuple[bytes, ...], Decoded] | None = None

    def read(self, machine: Machine) -> Decoded:
        """Return what is in memory now.  Raises AccessFault, and CommandError where the code is invalid."""
        content = tuple(
            [
                machine.view(span.region, span.offset, span.size, self._channel).tobytes()
                for span in self.spans
            ]
        )
        if self._last is None or self._last[0] != content:
            try:
                self._last = content, self._decode(content)
            except WeightError as error:
                raise CommandError(str(error)) from error
        return self._last[1]


@dataclass(frozen=True)
class Matrix:
    """Decoded weights, ready to be multiplied.

    `values` is [kernel height, kernel width, IFM depth, OFM depth], without the IFM axis for a depthwise
    operation, in the smaller of float32 and float64 that computes every sum exactly.
    """

    values: NDArray[np.float32] | NDArray[np.float64]
    largest: int  #: no sum of products gets beyond this


@dataclass(frozen=True)
class Channels:
    """Bias and scale of every OFM channel."""

    bias: NDArray[np.int64]
    scale: Scale
    largest: int  #: no bias is beyond this


def stored_matrix(
    registers: Registers, config: NpuConfig, layout: WeightLayout, largest_input: int
) -> Stored[Matrix]:
    """Read where the weights lie, one stream for each core, to multiply inputs of up to `largest_input` with.

    Raises CommandError.
    """
    names = ("WEIGHT", "WEIGHT1", "WEIGHT2", "WEIGHT3")[: 1 if layout.fast else config.cores]
    spans = tuple(_span(registers, "WEIGHT_REGION", name) for name in names)
    return Stored(spans, Channel.WEIGHT, partial(_decode_matrix, layout, largest_input))


@lru_cache(maxsize=CACHED_MATRICES)
def _decode_matrix(layout: WeightLayout, largest_input: int, streams: tuple[bytes, ...]) -> Matrix:
    weights = decode_weights(layout, streams)
    largest = int(np.abs(weights.astype(np.int64)).sum(axis=(1, 2, 3)).max()) * largest_input
    if largest >> 53:
        raise WeightError("sums of products with these weights take more than 53 bits")
    values = np.moveaxis(weights, 0, -1).astype(np.float64 if largest >> 24 else np.float32)
    if layout.traversal is Traversal.DEPTHWISE:
        values = values[:, :, 0]
    return Matrix(np.ascontiguousarray(values), largest)


def stored_channels(registers: Registers, channels: int, acc48: bool) -> Stored[Channels]:
    """Read where the biases and scales lie, and how OFM_SCALE has them rounded.  Raises CommandError."""
    rounding = registers.enum(Rounding, "OFM_SCALE", "rounding")
    double_round = registers.value("OFM_SCALE", "double_round")

    def decode(streams: tuple[bytes, ...]) -> Channels:
        table = decode_scales(streams[0], channels, acc48)
        scale = Scale(table.scale, Shift(table.shift, rounding, double_round))
        return Channels(table.bias, scale, int(np.abs(table.bias).max()))

    return Stored((_span(registers, "SCALE_REGION", "SCALE"),), Channel.SCALE, decode)


def _span(registers: Registers, region: str, name: str) -> Span:
    return Span(registers.value(region), registers.value(f"{name}_BASE"), registers.value(f"{name}_LENGTH"))
