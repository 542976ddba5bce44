"""CONV and DEPTHWISE: multiply, accumulate, scale per channel."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import cycles
from harness.sim.npu.blocks import Blocks, blocks_from_registers
from harness.sim.npu.config import NpuConfig
from harness.sim.npu.constants import Constants, StoredConstants, stored_constants
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.feature_map import Chained, InMemory, stored, zero_point
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import AccInput, Decomposition, WeightFormat, WeightOrder
from harness.sim.npu.output import OutputStage, output_stage
from harness.sim.npu.registers import Registers
from harness.sim.npu.weights import Traversal, WeightLayout
from harness.sim.npu.window import Window, window_from_registers
from harness.sim.npu.workload import Memories, constants_traffic, kernel_work

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
    constants: StoredConstants[Constants]
    output: OutputStage
    blocks: Blocks
    start: InMemory | Chained | None  #: IFM2, where the accumulators start from it

    def run(self, machine: Machine) -> None:
        """Compute the OFM.  Raises CommandError, AccessFault."""
        constants = self.constants.read(machine)
        ifm = self.ifm.read(machine, Channel.IFM, constants.matrix.dtype.type)
        windows = self.window.windows(self.window.pad(ifm, self.zero_point, self.zero_point))
        multiply = _depthwise if self._is_depthwise else _dense
        accumulators = self.output.resume(machine, multiply(windows, constants.matrix).astype(np.int64))
        if self.start is not None:
            accumulators += self.start.read(machine, Channel.IFM, np.int64)
        if not self.output.ends:  # else the output stage adds it, together with the bias
            accumulators += constants.centre
        largest = None if self.output.resumes or self.start is not None else constants.largest
        if largest is None or largest >= self.blocks.accumulator_limit:
            self.blocks.check_accumulators(
                accumulators + constants.scale.bias if self.output.ends else accumulators
            )
        self.output.finish(machine, accumulators, largest, constants.scale)

    def work(self, memories: Memories) -> cycles.KernelWork:
        """Describe the operation to the cycle estimate."""
        unit = cycles.Unit.DEPTHWISE if self._is_depthwise else cycles.Unit.CONV
        work = kernel_work(unit, [self.ifm], self.output, self.blocks, memories, self.start)
        return replace(
            work,
            kernel=self.window.kernel,
            stride=self.window.stride,
            dilation=self.window.dilation,
            part_kernel=self.layout.traversal is Traversal.PART_KERNEL,
            weights=constants_traffic(
                self.constants, memories, fast=self.layout.fast, sparse=self.layout.sparse
            ),
        )

    @cached_property
    def _is_depthwise(self) -> bool:
        return self.layout.traversal is Traversal.DEPTHWISE


def _dense(windows: NDArray[np.floating], matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    height, width = windows.shape[:2]
    size, channels = matrix.shape
    strip = max(1, COLUMN_ELEMENTS // (width * size))
    if strip >= height:
        return (windows.reshape(-1, size) @ matrix).reshape(height, width, channels)
    sums = np.empty((height, width, channels), matrix.dtype)
    for first in range(0, height, strip):
        rows = windows[first : first + strip]
        sums[first : first + strip] = (rows.reshape(-1, size) @ matrix).reshape(len(rows), width, channels)
    return sums


def _depthwise(windows: NDArray[np.floating], matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    sums = np.zeros((*windows.shape[:2], windows.shape[4]), matrix.dtype)
    for y, x in np.ndindex(matrix.shape[:2]):
        sums += windows[:, :, y, x] * matrix[y, x]
    return sums


def convolution(registers: Registers, config: NpuConfig, depthwise: bool) -> Convolution:
    """Read the registers of a CONV or DEPTHWISE operation.  Raises CommandError."""
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
    return Convolution(
        ifm,
        zero_point(registers, "IFM"),
        window,
        layout,
        stored_constants(registers, layout, ifm, blocks.acc48),
        output,
        blocks,
        _start(registers, output, blocks),
    )


def _start(registers: Registers, output: OutputStage, blocks: Blocks) -> InMemory | Chained | None:
    """Return IFM2 if the accumulators start from it.

    It then has their width and no zero point (Vela 5.2, GenerateAccFormat in
    regor/architecture/ethosu85/ethos_u85_register_cs_generator.cpp).
    """
    if registers.enum(AccInput, "ACC_FORMAT", "input") is not AccInput.IFM2:
        return None
    start = stored(registers, "IFM2", output.shape)
    if start.dtype != (np.int64 if blocks.acc48 else np.int32) or zero_point(registers, "IFM2"):
        raise CommandError(
            f"accumulators of {48 if blocks.acc48 else 32} bits that start from IFM2 elements of "
            f"{start.dtype} with the zero point {zero_point(registers, 'IFM2')} are not modelled"
        )
    return start


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
