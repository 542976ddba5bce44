"""Weights, biases and scales: read from memory at every run, decoded only when they have changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.feature_map import Chained, InMemory, largest_element, largest_value, zero_point
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import Rounding
from harness.sim.npu.registers import Registers
from harness.sim.npu.scaling import Scale, Shift
from harness.sim.npu.weights import Traversal, WeightError, WeightLayout, decode_scales, decode_weights
from harness.sim.npu.weights.order import CORES

CACHED_MATRICES = 256
"""How many operations' decoded weights are kept, whichever stream they belong to."""

Decoded = TypeVar("Decoded")


@dataclass(frozen=True)
class Span:
    """A range of bytes in a memory region, and the bus master that reads it."""

    channel: Channel
    region: int
    offset: int
    size: int


@dataclass(frozen=True)
class Matrix:
    """Decoded weights, ready to be multiplied with an input whose zero point has not been taken off.

    `values` is [kernel elements * IFM depth, OFM depth], for a depthwise operation [kernel height, kernel
    width, depth], in the smaller of float32 and float64 that computes every sum exactly.
    """

    values: NDArray[np.float32] | NDArray[np.float64]
    sums: NDArray[np.int64]  #: of each OFM channel's weights
    largest_sum: int  #: of any OFM channel's weights without their signs


@dataclass(frozen=True)
class Constants:
    """What a convolution computes with."""

    matrix: NDArray[np.float32] | NDArray[np.float64]
    centre: NDArray[np.int64]  #: what the IFM's zero point takes off the sum of products of each OFM channel
    scale: Scale  #: with bias and `centre`, for sums of products as they are
    largest: int  #: no accumulator gets beyond this


class StoredConstants(Generic[Decoded]):
    """Constants as memory holds them: one stream of weights for each core, if any, and one of scales.

    The bytes are looked at before every use, and decoded only when they differ from the last time.
    """

    def __init__(self, spans: tuple[Span, ...], decode: Callable[[tuple[bytes, ...]], Decoded]) -> None:
        self.spans = spans
        self._decode = decode
        self._last: tuple[tuple[bytes, ...], Decoded] | None = None

    def read(self, machine: Machine) -> Decoded:
        """Return what is in memory now.  Raises AccessFault, and CommandError where the code is invalid."""
        views = [machine.view(span.region, span.offset, span.size, span.channel).data for span in self.spans]
        # Of all ways to compare with memory, `startswith` alone takes no copy; the lengths are equal.
        if self._last is not None and all(map(bytes.startswith, self._last[0], views)):
            return self._last[1]
        content = tuple([view.tobytes() for view in views])
        try:
            self._last = content, self._decode(content)
        except WeightError as error:
            raise CommandError(str(error)) from error
        return self._last[1]


def stored_constants(
    registers: Registers, layout: WeightLayout, ifm: InMemory | Chained, acc48: bool
) -> StoredConstants[Constants]:
    """Read where weights, biases and scales lie, and how OFM_SCALE has them rounded.  Raises CommandError."""
    names = ("WEIGHT", "WEIGHT1", "WEIGHT2", "WEIGHT3")[: 1 if layout.fast else CORES[layout.macs]]
    spans = [_span(registers, Channel.WEIGHT, name) for name in names]
    decode_table = _table_decoder(registers, layout.ofm_depth, acc48)
    zero = zero_point(registers, "IFM")

    def decode(content: tuple[bytes, ...]) -> Constants:
        matrix = _decode_matrix(layout, largest_element(ifm, zero), content[:-1])
        table = decode_table(content[-1])
        centre = (-zero * matrix.sums).reshape(1, 1, -1)
        largest = matrix.largest_sum * largest_value(ifm, zero) + int(np.abs(table.bias).max())
        return Constants(matrix.values, centre, replace(table, bias=table.bias + centre), largest)

    return StoredConstants((*spans, _span(registers, Channel.SCALE, "SCALE")), decode)


def stored_scales(registers: Registers, channels: int, acc48: bool) -> StoredConstants[Scale]:
    """Read where the biases and scales of an operation without weights lie.  Raises CommandError."""
    decode_table = _table_decoder(registers, channels, acc48)
    return StoredConstants(
        (_span(registers, Channel.SCALE, "SCALE"),), lambda content: decode_table(content[0])
    )


def _table_decoder(registers: Registers, channels: int, acc48: bool) -> Callable[[bytes], Scale]:
    """Return how a table of biases and scales becomes a scale that is rounded as OFM_SCALE says."""
    rounding = registers.enum(Rounding, "OFM_SCALE", "rounding")
    double_round = registers.value("OFM_SCALE", "double_round")

    def decode(content: bytes) -> Scale:
        table = decode_scales(content, channels, acc48)
        # Three axes, as an OFM has: numpy is twice as fast with small arrays where shapes are equal.
        shift = Shift(table.shift.reshape(1, 1, -1), rounding, double_round)
        return Scale(table.scale.reshape(1, 1, -1), shift, table.bias.reshape(1, 1, -1))

    return decode


@lru_cache(maxsize=CACHED_MATRICES)
def _decode_matrix(layout: WeightLayout, largest_element: int, streams: tuple[bytes, ...]) -> Matrix:
    weights = decode_weights(layout, streams)
    largest_sum = int(np.abs(weights).sum(axis=(1, 2, 3), dtype=np.int64).max())
    largest = largest_sum * largest_element
    if largest >> 53:
        raise WeightError("sums of products with these weights take more than 53 bits")
    depthwise = layout.traversal is Traversal.DEPTHWISE
    shape = weights.shape[1:3] if depthwise else (-1,)
    values = np.moveaxis(weights, 0, -1).reshape(*shape, layout.ofm_depth)
    sums = weights.sum(axis=(1, 2, 3), dtype=np.int64)
    if largest >> 24:
        return Matrix(values.astype(np.float64), sums, largest_sum)
    return Matrix(values.astype(np.float32), sums, largest_sum)


def _span(registers: Registers, channel: Channel, name: str) -> Span:
    region = registers.value(f"{channel.name}_REGION")
    return Span(channel, region, registers.value(f"{name}_BASE"), registers.value(f"{name}_LENGTH"))
