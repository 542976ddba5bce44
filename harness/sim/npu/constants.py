"""Weights, biases and scales of a convolution: read from memory at every run, decoded once per content."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import Rounding
from harness.sim.npu.registers import Registers
from harness.sim.npu.scaling import Scale
from harness.sim.npu.weights import Traversal, WeightError, WeightLayout, decode_scales, decode_weights

CACHED_OPERATIONS = 512
"""How many operations' decoded constants are kept: more than any network of this NPU's class has."""


@dataclass(frozen=True)
class Span:
    """A range of bytes in a memory region."""

    region: int
    offset: int
    size: int

    def read(self, machine: Machine, channel: Channel) -> bytes:
        """Return a copy of the bytes."""
        return machine.view(self.region, self.offset, self.size, channel).tobytes()


@dataclass(frozen=True)
class Matrix:
    """Decoded weights, ready to be multiplied.

    `values` is [kernel height, kernel width, IFM depth, OFM depth], without the IFM axis for a depthwise
    operation, in the smaller of float32 and float64 that computes every sum exactly.
    """

    values: NDArray[np.float32] | NDArray[np.float64]
    largest: int  #: no accumulator gets beyond this, bias not counted


@dataclass(frozen=True)
class Constants:
    """Where an operation's weights and scales lie, and how they are coded."""

    layout: WeightLayout
    weights: tuple[Span, ...]
    scales: Span
    acc48: bool
    rounding: Rounding
    double_round: int

    def matrix(self, machine: Machine, largest_input: int) -> Matrix:
        """Return the weights for inputs of up to `largest_input`.  Raises CommandError, AccessFault."""
        streams = tuple(span.read(machine, Channel.WEIGHT) for span in self.weights)
        try:
            return _matrix(self.layout, streams, largest_input)
        except WeightError as error:
            raise CommandError(f"weights: {error}") from error

    def bias_and_scale(self, machine: Machine) -> tuple[NDArray[np.int64], Scale]:
        """Return the bias and the scale of every OFM channel.  Raises CommandError, AccessFault."""
        content = self.scales.read(machine, Channel.SCALE)
        try:
            return _bias_and_scale(
                content, self.layout.ofm_depth, self.acc48, self.rounding, self.double_round
            )
        except WeightError as error:
            raise CommandError(f"scales: {error}") from error


# The bytes themselves are the key: a cached result belongs to exactly this content.
@lru_cache(maxsize=CACHED_OPERATIONS)
def _matrix(layout: WeightLayout, streams: tuple[bytes, ...], largest_input: int) -> Matrix:
    weights = decode_weights(layout, streams)
    sums = np.abs(weights.astype(np.int64)).sum(axis=(1, 2, 3))
    largest = int(sums.max()) * largest_input
    if largest >> 53:
        raise WeightError("products of these weights and inputs do not fit 53 bits")
    values = np.moveaxis(weights, 0, -1).astype(np.float64 if largest >> 24 else np.float32)
    if layout.traversal is Traversal.DEPTHWISE:
        values = values[:, :, 0, :]
    return Matrix(np.ascontiguousarray(values), largest)


@lru_cache(maxsize=CACHED_OPERATIONS)
def _bias_and_scale(
    content: bytes, channels: int, acc48: bool, rounding: Rounding, double_round: int
) -> tuple[NDArray[np.int64], Scale]:
    table = decode_scales(content, channels, acc48)
    return table.bias, Scale(table.scale, table.shift, rounding, double_round)


def constants_from_registers(
    registers: Registers, config: NpuConfig, layout: WeightLayout, acc48: bool
) -> Constants:
    """Read where weights and scales lie.  Raises CommandError."""
    streams = 1 if layout.fast else config.cores
    names = ("WEIGHT", "WEIGHT1", "WEIGHT2", "WEIGHT3")[:streams]
    return Constants(
        layout,
        tuple(_span(registers, "WEIGHT_REGION", name) for name in names),
        _span(registers, "SCALE_REGION", "SCALE"),
        acc48,
        registers.enum(Rounding, "OFM_SCALE", "rounding"),
        registers.value("OFM_SCALE", "double_round"),
    )


def _span(registers: Registers, region: str, name: str) -> Span:
    return Span(registers.value(region), registers.value(f"{name}_BASE"), registers.value(f"{name}_LENGTH"))
