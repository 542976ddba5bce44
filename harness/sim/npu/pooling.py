"""POOL: maxima, minima, sums and averages of windows, sums over the depth, and plain copies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import cycles
from harness.sim.npu.blocks import Blocks, blocks_from_registers
from harness.sim.npu.constants import StoredConstants, stored_scales
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.feature_map import Chained, InMemory, stored, zero_point
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import AccInput, Pooling
from harness.sim.npu.output import OutputStage, output_stage, scales_per_channel
from harness.sim.npu.registers import Registers
from harness.sim.npu.scaling import Scale
from harness.sim.npu.window import Window, window_from_registers
from harness.sim.npu.workload import Memories, constants_traffic, kernel_work

Int = NDArray[np.int64]

_LOWEST, _HIGHEST = -(1 << 40), 1 << 40  #: padding that never wins; beyond any element with its zero point
_WINDOW_AXES = (2, 3)
_INDEX_SHIFT = 16  #: ARGMAX leaves the position above 16 bits of value, and OFM_SCALE shifts those out


def _average(windows: Int, window: Window) -> Int:
    """Divide by the number of elements that are not padding, ties away from zero.

    How the hardware rounds here is not public.  TensorFlow Lite rounds like this, and the compiler sets the
    zero point to 0, which makes a difference only where rounding depends on the sum's sign.
    """
    total: Int = windows.sum(_WINDOW_AXES)
    count = window.valid
    magnitude: Int = (2 * np.abs(total) + count) // (2 * count)
    return np.where(total < 0, -magnitude, magnitude)


def _position(axis: int) -> Callable[[Int, Window], Int]:
    def first_maximum(windows: Int, _: Window) -> Int:
        if windows.shape[5 - axis] != 1:
            raise CommandError("ARGMAX over two axes at once is not modelled")
        position: Int = windows.argmax(axis).squeeze(2)
        return position << _INDEX_SHIFT

    return first_maximum


_REDUCE: dict[Pooling, tuple[int, Callable[[Int, Window], Int]]] = {
    Pooling.MAX: (_LOWEST, lambda windows, _: windows.max(_WINDOW_AXES)),
    Pooling.MIN: (_HIGHEST, lambda windows, _: windows.min(_WINDOW_AXES)),
    Pooling.SUM: (0, lambda windows, _: windows.sum(_WINDOW_AXES)),
    Pooling.AVERAGE: (0, _average),
    Pooling.REDUCE_SUM: (0, lambda windows, _: windows.sum((*_WINDOW_AXES, 4))[:, :, None]),
    Pooling.ARGMAX_X: (_LOWEST, _position(3)),
    Pooling.ARGMAX_Y: (_LOWEST, _position(2)),
}
"""What padding counts as, and how [height, width, kernel height, kernel width, depth] becomes the OFM."""


_COMBINE: dict[Pooling, Callable[[Int, Int], Int]] = {
    Pooling.MAX: np.maximum,
    Pooling.MIN: np.minimum,
    Pooling.SUM: np.add,
}
"""How a pooling that comes in parts, each with some elements of every window, becomes one."""


_ONE_SCALE = (Pooling.AVERAGE, Pooling.REDUCE_SUM, Pooling.ARGMAX_X, Pooling.ARGMAX_Y)
"""Modes with the scale of OFM_SCALE only (Vela 5.2, SupportedOFMQuant in
regor/architecture/ethosu85/ethos_u85_constraints.cpp, and GenerateOFMScalingForPooling for ARGMAX)."""


@dataclass(frozen=True)
class Pool:
    """One POOL operation that looks at windows."""

    mode: Pooling
    ifm: InMemory | Chained
    zero_point: int
    window: Window
    output: OutputStage
    blocks: Blocks
    constants: StoredConstants[Scale] | None  #: where each channel has a scale of its own

    def run(self, machine: Machine) -> None:
        """Compute the OFM.  Raises CommandError, AccessFault."""
        fill, reduce = _REDUCE[self.mode]
        padded = self.window.pad(self.ifm.read(machine, Channel.IFM, np.int64) - self.zero_point, fill)
        accumulators = self.output.resume(
            machine, reduce(self.window.windows(padded), self.window), _COMBINE.get(self.mode, np.add)
        )
        _finish(self, machine, accumulators)

    def work(self, memories: Memories) -> cycles.KernelWork:
        """Describe the operation to the cycle estimate."""
        unit = cycles.Unit.REDUCE_SUM if self.mode is Pooling.REDUCE_SUM else cycles.Unit.POOL
        work = kernel_work(unit, [self.ifm], self.output, self.blocks, memories)
        return replace(
            work,
            kernel=self.window.kernel,
            stride=self.window.stride,
            dilation=self.window.dilation,
            weights=_scale_traffic(self, memories),
        )


@dataclass(frozen=True)
class PassThrough:
    """POOL in mode NONE: IFM2 goes through the output stage as it is."""

    ifm2: InMemory | Chained
    zero_point: int
    output: OutputStage
    blocks: Blocks
    constants: StoredConstants[Scale] | None  #: where each channel has a scale of its own

    def run(self, machine: Machine) -> None:
        """Compute the OFM.  Raises CommandError, AccessFault."""
        values = self.ifm2.read(machine, Channel.IFM, np.int64) - self.zero_point
        _finish(self, machine, values)

    def work(self, memories: Memories) -> cycles.KernelWork:
        """Describe the operation to the cycle estimate."""
        work = kernel_work(cycles.Unit.ELEMENTWISE, [self.ifm2], self.output, self.blocks, memories)
        return replace(work, weights=_scale_traffic(self, memories))


def _finish(operation: Pool | PassThrough, machine: Machine, accumulators: Int) -> None:
    """Hand the accumulators to the output stage."""
    blocks, scale = operation.blocks, None
    if operation.constants is not None:
        scale = operation.constants.read(machine)
    if operation.output.ends:
        blocks.check_accumulators(accumulators if scale is None else accumulators + scale.bias)
    operation.output.finish(machine, accumulators, blocks.accumulator_limit, scale)


def _scale_traffic(operation: Pool | PassThrough, memories: Memories) -> cycles.WeightTraffic | None:
    return constants_traffic(operation.constants, memories) if operation.constants is not None else None


def pool(registers: Registers, mode: Pooling) -> Pool | PassThrough:
    """Read the registers of a POOL operation.  Raises CommandError."""
    per_channel = mode not in _ONE_SCALE and scales_per_channel(registers)
    output = output_stage(registers, per_channel=per_channel)
    blocks = blocks_from_registers(registers)
    constants = stored_scales(registers, output.shape[2], blocks.acc48) if per_channel else None
    source = registers.enum(AccInput, "ACC_FORMAT", "input")
    if mode is Pooling.NONE:
        if source is not AccInput.IFM2:
            raise CommandError(f"pooling mode NONE with accumulators from {source.name} is not modelled")
        return PassThrough(
            stored(registers, "IFM2", output.shape), zero_point(registers, "IFM2"), output, blocks, constants
        )
    continued = source is not AccInput.RESET or not output.ends
    if source is AccInput.IFM2 or (continued and mode not in _COMBINE):
        raise CommandError(f"{mode.name} pooling from or to accumulators ({source.name}) is not modelled")
    ifm_depth = registers.value("IFM_DEPTH_M1") + 1
    window = window_from_registers(registers, output.shape[:2], ifm_depth)
    if not continued and not window.valid.all():
        raise CommandError("pooling of windows that see nothing but padding is not modelled")
    if output.shape[2] != (1 if mode is Pooling.REDUCE_SUM else ifm_depth):
        raise CommandError(f"{mode.name} pooling from {ifm_depth} to {output.shape[2]} channels")
    if mode is Pooling.AVERAGE and not output.scale.is_one:
        raise CommandError("AVERAGE pooling with a scale other than one is not modelled")
    ifm = stored(registers, "IFM", (*window.ifm, ifm_depth))
    return Pool(mode, ifm, zero_point(registers, "IFM"), window, output, blocks, constants)
