"""RESIZE: an image of another size, by picking or blending input elements."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import cycles
from harness.sim.npu.blocks import Blocks, blocks_from_registers
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.feature_map import MAX_ELEMENTS, Chained, InMemory, largest_value, stored, zero_point
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import AccInput, Resize
from harness.sim.npu.output import OutputStage, output_stage
from harness.sim.npu.registers import Registers
from harness.sim.npu.scaling import LARGEST_PRODUCT
from harness.sim.npu.workload import Memories, kernel_work

Int = NDArray[np.int64]

_ACCUMULATOR_SHIFT = 16  #: OFM_SCALE of a RESIZE takes it out again


@dataclass(frozen=True)
class Axis:
    """Where output elements lie among input elements along one axis: i at (i * step + offset) / parts.

    Input elements before the first and after the last are like these.
    """

    ofm: int
    ifm: int
    parts: int
    step: int
    offset: int

    def resize(self, values: Int, axis: int, mode: Resize) -> Int:
        """Return `values` resized along `axis`; blended elements are `parts` times too large."""
        whole, part = np.divmod(np.arange(self.ofm) * self.step + self.offset, self.parts)
        first, second = np.clip(whole, 0, self.ifm - 1), np.clip(whole + 1, 0, self.ifm - 1)
        if mode is not Resize.BILINEAR:
            nearer = mode is Resize.NEAREST and 2 * part >= self.parts
            picked: Int = values.take(np.where(nearer, second, first), axis)
            return picked
        weight: Int = np.expand_dims(part, tuple({0, 1, 2} - {axis}))
        blended: Int = values.take(first, axis) * (self.parts - weight) + values.take(second, axis) * weight
        return blended


@dataclass(frozen=True)
class Resizing:
    """One RESIZE operation."""

    mode: Resize
    ifm: InMemory | Chained
    zero_point: int
    rows: Axis
    columns: Axis
    output: OutputStage
    blocks: Blocks

    def run(self, machine: Machine) -> None:
        """Compute the OFM.  Raises CommandError, AccessFault."""
        ifm = self.ifm.read(machine, Channel.IFM, np.int64) - self.zero_point
        blended = self.columns.resize(self.rows.resize(ifm, 0, self.mode), 1, self.mode)
        accumulators = blended << _ACCUMULATOR_SHIFT
        self.output.finish(machine, accumulators)

    def work(self, memories: Memories) -> cycles.KernelWork:
        """Describe the operation to the cycle estimate."""
        return kernel_work(cycles.Unit.RESIZE, [self.ifm], self.output, self.blocks, memories)


def resize(registers: Registers, mode: Resize) -> Resizing:
    """Read the registers of a RESIZE operation.  Raises CommandError."""
    output = output_stage(registers, per_channel=False)
    if registers.enum(AccInput, "ACC_FORMAT", "input") is not AccInput.RESET or not output.ends:
        raise CommandError("a resize from or to accumulators is not modelled")
    height, width, depth = output.shape
    rows, columns = _axis(registers, "Y", "HEIGHT", height), _axis(registers, "X", "WIDTH", width)
    if registers.value("IFM_DEPTH_M1") + 1 != depth:
        raise CommandError("a resize that changes the depth")
    ifm = stored(registers, "IFM", (rows.ifm, columns.ifm, depth))
    if math.prod((height, columns.ifm, depth)) > MAX_ELEMENTS:
        raise CommandError(f"a resize with more than {MAX_ELEMENTS} elements on the way")
    zero = zero_point(registers, "IFM")
    if largest_value(ifm, zero) * rows.parts * columns.parts << _ACCUMULATOR_SHIFT > LARGEST_PRODUCT:
        raise CommandError(f"a resize of {ifm.dtype} elements in {rows.parts} x {columns.parts} parts")
    return Resizing(mode, ifm, zero, rows, columns, output, blocks_from_registers(registers))


def _axis(registers: Registers, axis: str, side: str, ofm: int) -> Axis:
    parts = registers.value(f"RESIZE_{axis}_SCALE_N_M1") + 1
    step = registers.value(f"RESIZE_{axis}_STEP", "step") * parts
    return Axis(
        ofm,
        registers.value(f"KERNEL_{side}_M1") + 1,
        parts,
        step + registers.value(f"RESIZE_{axis}_STEP", "step_mod"),
        registers.signed(f"RESIZE_{axis}_OFFSET", 12),
    )
