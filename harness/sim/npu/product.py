"""CONV with weights from IFM2: the matrix product of two feature maps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from harness.sim.npu import cycles
from harness.sim.npu.blocks import Blocks, blocks_from_registers
from harness.sim.npu.convolution import MAX_PRODUCTS
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.feature_map import Chained, InMemory, largest_value, stored, zero_point
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import AccInput
from harness.sim.npu.output import OutputStage, output_stage
from harness.sim.npu.registers import Registers
from harness.sim.npu.window import window_from_registers
from harness.sim.npu.workload import Memories, kernel_work


@dataclass(frozen=True)
class Product:
    """OFM[0, x, c] is the sum of IFM[0, x, i] * IFM2[0, c, i] over i."""

    ifm: InMemory | Chained
    ifm2: InMemory | Chained
    zero_points: tuple[int, int]
    output: OutputStage
    blocks: Blocks

    def run(self, machine: Machine) -> None:
        """Compute the OFM.  Raises CommandError, AccessFault."""
        left, right = (
            source.read(machine, Channel.IFM, np.float64)[0] - zero
            for source, zero in zip((self.ifm, self.ifm2), self.zero_points, strict=True)
        )
        accumulators = self.output.resume(machine, (left @ right.T).astype(np.int64)[None])
        self.blocks.check_accumulators(accumulators)
        self.output.finish(machine, accumulators)

    def work(self, memories: Memories) -> cycles.KernelWork:
        """Describe the operation to the cycle estimate."""
        return kernel_work(cycles.Unit.CONV, [self.ifm, self.ifm2], self.output, self.blocks, memories)


def product(registers: Registers) -> Product:
    """Read the registers of a CONV whose weights are IFM2.  Raises CommandError."""
    if registers.enum(AccInput, "ACC_FORMAT", "input") is AccInput.IFM2:
        raise CommandError("a product of feature maps cannot start from IFM2, its second factor")
    output = output_stage(registers, per_channel=False)
    height, width, depth = output.shape
    length = registers.value("IFM_DEPTH_M1") + 1
    window = window_from_registers(registers, (height, width), length)
    if height != 1 or window.kernel != (1, 1) or window.ifm != (1, width):
        raise CommandError("a product of feature maps with more than one row, or a kernel, is not modelled")
    if math.prod((width, depth, length)) > MAX_PRODUCTS:
        raise CommandError(f"more than {MAX_PRODUCTS} multiplications in one operation")
    ifm = stored(registers, "IFM", (1, width, length))
    ifm2 = stored(registers, "IFM2", (1, depth, length))
    zeros = (zero_point(registers, "IFM"), zero_point(registers, "IFM2"))
    if largest_value(ifm, zeros[0]) * largest_value(ifm2, zeros[1]) * length >> 53:
        raise CommandError("sums of products of these feature maps take more than 53 bits")
    return Product(ifm, ifm2, zeros, output, blocks_from_registers(registers))
