"""CONV and DEPTHWISE: multiply, accumulate, scale per channel."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import cycles
from harness.sim.npu.blocks import Blocks, blocks_from_registers
from harness.sim.npu.config import NpuConfig
from harness.sim.npu.constants import Channels, Matrix, Stored, stored_channels, stored_matrix
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.feature_map import Chained, InMemory, largest_value, stored, zero_point
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import AccInput, Decomposition, WeightFormat, WeightOrder
from harness.sim.npu.output import OutputStage, output_stage
from harness.sim.npu.registers import Registers
from harness.sim.npu.weights import Traversal, WeightLayout
from harness.sim.npu.window import Window, window_from_registers
from harness.sim.npu.workload import Memories, kernel_work

COLUMN_ELEMENTS = 1 << 20
"""Input elements laid out for one matrix product; larger operations are done in strips of output rows."""

MAX_PRODUCTS = 1 << 35
"""Most multiplications of one operation, a minute's work: far above any real layer."""

_TRAVERSALS = {
    WeightOrder.DEPTH_FIRST: Traversal.DEPTH_FIRST,
    WeightOrder.PART_KERNEL_FIRST: Traversal.PART_KERNEL,
}


@dataclass(frozen=True)
class Convolution:
    """One CONV or DEPTHWISE operation."""

    ifm: InMemory | Chained
    zero_point: int
    window: Window
    layout: WeightLayout
    matrix: Stored[Matrix]
    channels: Stored[Channels]
    output: OutputStage
    blocks: Blocks

    def run(self, machine: Machine) -> None:
        """Compute the OFM.  Raises CommandError, AccessFault."""
        matrix = self.matrix.read(machine)
        channels = self.channels.read(machine)
        padded = self.window.pad(
            self.ifm.read(machine, Channel.IFM), self.zero_point, fill=0, dtype=matrix.values.dtype
        )
        multiply = _depthwise if self._is_depthwise else _dense
        accumulators = multiply(self.window.windows(padded), matrix.values).astype(np.int64)
        accumulators = self.output.resume(machine, accumulators)
        if self.output.ends:  # biases are the output stage's: parts of a sum come with the same ones each
            accumulators += channels.bias
        largest = matrix.largest + channels.largest
        if self.output.resumes or largest >= self.blocks.accumulator_limit:
            self.blocks.check_accumulators(accumulators)
        bound = None if self.output.resumes else largest
        self.output.finish(machine, accumulators, bound, channels.scale)

    def work(self, memories: Memories) -> cycles.KernelWork:
        """Describe the operation to the cycle estimate."""
        unit = cycles.Unit.DEPTHWISE if self._is_depthwise else cycles.Unit.CONV
        work = kernel_work(unit, [self.ifm], self.output, self.blocks, memories)
        return replace(
            work,
            kernel=self.window.kernel,
            stride=self.window.stride,
            dilation=self.window.dilation,
            part_kernel=self.layout.traversal is Traversal.PART_KERNEL,
            weights=cycles.WeightTraffic(
                weight_bytes=sum(span.size for span in self.matrix.spans),
                weight_memory=memories[self.matrix.spans[0].region],
                scale_bytes=self.channels.spans[0].size,
                scale_memory=memories[self.channels.spans[0].region],
                scale_place=cycles.Place(self.channels.spans[0].region, self.channels.spans[0].offset),
                fast=self.layout.fast,
                sparse=self.layout.sparse,
            ),
        )

    @property
    def _is_depthwise(self) -> bool:
        return self.layout.traversal is Traversal.DEPTHWISE


def _dense(windows: NDArray[np.floating], matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    height, width, *kernel = windows.shape
    size = math.prod(kernel)
    weights = matrix.reshape(size, -1)
    strip = max(1, COLUMN_ELEMENTS // (width * size))
    if strip >= height:
        return (windows.reshape(-1, size) @ weights).reshape(height, width, -1)
    sums = np.empty((height, width, weights.shape[1]), matrix.dtype)
    for first in range(0, height, strip):
        rows = windows[first : first + strip]
        sums[first : first + strip] = (rows.reshape(-1, size) @ weights).reshape(len(rows), width, -1)
    return sums


def _depthwise(windows: NDArray[np.floating], matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    sums = np.zeros((*windows.shape[:2], windows.shape[4]), matrix.dtype)
    for y, x in np.ndindex(matrix.shape[:2]):
        sums += windows[:, :, y, x] * matrix[y, x]
    return sums


def convolution(registers: Registers, config: NpuConfig, depthwise: bool) -> Convolution:
    """Read the registers of a CONV or DEPTHWISE operation.  Raises CommandError."""
    if registers.enum(AccInput, "ACC_FORMAT", "input") is AccInput.IFM2:
        raise CommandError("a convolution that starts from IFM2 is not modelled")
    output = output_stage(registers, per_channel=True)
    ifm_depth = registers.value("IFM_DEPTH_M1") + 1
    if depthwise and ifm_depth != output.shape[2]:
        raise CommandError(f"a depthwise operation from {ifm_depth} to {output.shape[2]} channels")
    window = window_from_registers(registers, output.shape[:2], ifm_depth)
    products = math.prod((*output.shape, *window.kernel, 1 if depthwise else ifm_depth))
    if products > MAX_PRODUCTS:
        raise CommandError(f"{products} multiplications in one operation are more than {MAX_PRODUCTS}")
    ifm = stored(registers, "IFM", (*window.ifm, ifm_depth))
    blocks = blocks_from_registers(registers)
    layout = _weight_layout(registers, config, depthwise, output, ifm, window, blocks)
    zero = zero_point(registers, "IFM")
    return Convolution(
        ifm,
        zero,
        window,
        layout,
        stored_matrix(registers, config, layout, largest_value(ifm, zero)),
        stored_channels(registers, output.shape[2], blocks.acc48),
        output,
        blocks,
    )


def _weight_layout(
    registers: Registers,
    config: NpuConfig,
    depthwise: bool,
    output: OutputStage,
    ifm: InMemory | Chained,
    window: Window,
    blocks: Blocks,
) -> WeightLayout:
    if registers.enum(Decomposition, "KERNEL_STRIDE", "decomposition") is not Decomposition.D8X8:
        raise CommandError("kernels cut into 4x4 are not modelled")
    order = registers.enum(WeightOrder, "KERNEL_STRIDE", "weight_order")
    return WeightLayout(
        macs=config.macs,
        fast=registers.enum(WeightFormat, "WEIGHT_FORMAT", "format") is WeightFormat.FWD,
        sparse=bool(registers.value("WEIGHT_FORMAT", "sparse")),
        traversal=Traversal.DEPTHWISE if depthwise else _TRAVERSALS[order],
        ofm_depth=output.shape[2],
        ifm_depth=ifm.shape[2],
        kernel_height=window.kernel[0],
        kernel_width=window.kernel[1],
        stride_y=window.stride[0],
        stride_x=window.stride[1],
        dilation_y=window.dilation[0],
        dilation_x=window.dilation[1],
        ofm_block_depth=blocks.ofm[2],
        microblock=blocks.micro,
        ifm_bits=8 * ifm.dtype.itemsize,
    )
