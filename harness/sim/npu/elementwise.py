"""ELEMENTWISE: arithmetic on one or two feature maps, element by element."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import cycles
from harness.sim.npu.blocks import Blocks, blocks_from_registers
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.feature_map import Operand, Shape, element_type, operand, zero_point
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import Elementwise
from harness.sim.npu.output import OutputStage, output_stage
from harness.sim.npu.registers import Registers
from harness.sim.npu.scaling import Scale
from harness.sim.npu.workload import Memories, kernel_work

Int = NDArray[np.int64]

_BROADCAST_BITS = (1, 2, 4)  #: of IFM_BROADCAST, for height, width, depth
_WORD = 32


@dataclass(frozen=True)
class Arithmetic:
    """One ELEMENTWISE operation."""

    mode: Elementwise
    operands: tuple[Operand, ...]
    zero_points: tuple[int, ...]
    scales: tuple[Scale, ...]  #: IFM_SCALE, then IFM2_SCALE of a binary mode and of LRELU
    output: OutputStage
    blocks: Blocks

    @property
    def bits(self) -> int:
        """Bits of an operand's element."""
        return 8 * self.operands[0].dtype.itemsize

    def run(self, machine: Machine) -> None:
        """Compute the OFM.  Raises CommandError, AccessFault."""
        values = [
            source.read(machine, Channel.IFM, np.int64) - zero
            for source, zero in zip(self.operands, self.zero_points, strict=True)
        ]
        if self.mode is not Elementwise.LRELU:  # which scales its one operand in two ways
            values = [scale.apply(value) for scale, value in zip(self.scales, values, strict=True)]
        result = _MODES[self.mode].compute(self, *values)
        self.output.finish(machine, np.broadcast_to(result, self.output.shape))

    def work(self, memories: Memories) -> cycles.KernelWork:
        """Describe the operation to the cycle estimate."""
        work = kernel_work(cycles.Unit.ELEMENTWISE, self.operands, self.output, self.blocks, memories)
        return replace(
            work,
            binary=len(self.operands) == 2,
        )


def _leaky_relu(operation: Arithmetic, values: Int) -> Int:
    positive, negative = operation.scales
    return np.where(values >= 0, positive.apply(values), negative.apply(values))


def _shift_right(operation: Arithmetic, values: Int, amount: Int) -> Int:
    _check_amount(operation, amount)
    shift = replace(operation.output.scale.shift, bits=amount)
    return shift.apply(np.broadcast_to(values, operation.output.shape))


def _shift_left(operation: Arithmetic, values: Int, amount: Int) -> Int:
    _check_amount(operation, amount)
    return (values << amount).astype(np.int32).astype(np.int64)


def _shift_right_logically(operation: Arithmetic, values: Int, amount: Int) -> Int:
    """Shift zeros in at the top of an element, as TOSA's LOGICAL_RIGHT_SHIFT does."""
    _check_amount(operation, amount)
    return ((values & ((1 << operation.bits) - 1)) >> amount).astype(np.int32).astype(np.int64)


def _check_amount(operation: Arithmetic, amount: Int) -> None:
    if amount.min() < 0 or amount.max() >= operation.bits:
        raise CommandError(
            f"shifts of {operation.bits}-bit elements by {amount.min()} to {amount.max()} are not modelled"
        )


def _quotient(_: Arithmetic, dividend: Int, divisor: Int) -> Int:
    """Divide, rounding towards zero as TensorFlow Lite's and TOSA's integer divisions do."""
    if not divisor.all():
        raise CommandError("a division by zero is not modelled")
    quotient: Int = np.abs(dividend) // np.abs(divisor)
    return np.where((dividend < 0) == (divisor < 0), quotient, -quotient)


def _leading_zeros(_: Arithmetic, values: Int) -> Int:
    """Count in 32 bits, whatever the elements have: scaling has made 32-bit numbers of them."""
    # frexp's exponent of n > 0 is the number of bits in n; 32 bits are exact in float64.
    return _WORD - np.frexp((values & 0xFFFFFFFF).astype(np.float64))[1].astype(np.int64)


def _compare(holds: Callable[[Int, Int], NDArray[np.bool_]]) -> Callable[..., Int]:
    """Return a comparison: all bits are set where it holds, so that the result can be used as a mask."""
    return lambda _, a, b: -holds(a, b).astype(np.int64)


@dataclass(frozen=True)
class _Mode:
    """How an elementwise mode computes, and what it takes."""

    compute: Callable[..., Int]  #: from the operation and its operands, zero points taken off, and scaled
    operands: int = 2
    scaled: bool = True  #: whether IFM_SCALE and IFM2_SCALE may be other than one
    word_only: bool = False  #: modelled for 32-bit inputs only


_MODES = {
    Elementwise.MUL: _Mode(lambda _, a, b: a * b, scaled=False),
    Elementwise.ADD: _Mode(lambda _, a, b: a + b),
    Elementwise.SUB: _Mode(lambda _, a, b: a - b),
    Elementwise.MIN: _Mode(lambda _, a, b: np.minimum(a, b)),
    Elementwise.MAX: _Mode(lambda _, a, b: np.maximum(a, b)),
    Elementwise.LRELU: _Mode(_leaky_relu, operands=1),
    Elementwise.ABS: _Mode(lambda _, a: np.abs(a), operands=1),
    Elementwise.CLZ: _Mode(_leading_zeros, operands=1),
    Elementwise.SHR: _Mode(_shift_right, scaled=False),
    Elementwise.SHL: _Mode(_shift_left, scaled=False),
    Elementwise.LSR: _Mode(_shift_right_logically, scaled=False),
    Elementwise.DIV: _Mode(_quotient, scaled=False, word_only=True),
    Elementwise.CMP_EQ: _Mode(_compare(operator.eq)),
    Elementwise.CMP_NE: _Mode(_compare(operator.ne)),
    Elementwise.CMP_GE: _Mode(_compare(operator.ge)),
    Elementwise.CMP_GT: _Mode(_compare(operator.gt)),
    Elementwise.AND: _Mode(lambda _, a, b: a & b),
    Elementwise.OR: _Mode(lambda _, a, b: a | b),
    Elementwise.XOR: _Mode(lambda _, a, b: a ^ b),
    Elementwise.NOT: _Mode(lambda _, a: ~a, operands=1),
    Elementwise.AND_NOT: _Mode(lambda _, a, b: a & ~b),
}
"""Which modes scale their inputs is what Vela 5.2 lets be fused into them (SupportedIFMQuant in
regor/architecture/ethosu85/ethos_u85_constraints.cpp): MUL and DIV never, and for shifts no network is known
that makes it do so."""


_UNSCALED = (Elementwise.SHR, Elementwise.SHL, Elementwise.LSR, Elementwise.CLZ, Elementwise.DIV)
"""Modes whose output is not scaled (Vela 5.2, regor/architecture/ethosu85/ethos_u85_constraints.cpp)."""


def elementwise(registers: Registers, mode: Elementwise) -> Arithmetic:
    """Read the registers of an ELEMENTWISE operation.  Raises CommandError."""
    rule = _MODES.get(mode)
    if rule is None:
        raise CommandError(f"elementwise mode {mode.name} is not modelled")
    output = output_stage(registers, per_channel=False)
    if not output.ends:
        raise CommandError(f"{mode.name} that leaves its result in the accumulators is not modelled")
    names = ("IFM", "IFM2")[: rule.operands]
    scale_names = ("IFM", "IFM2") if mode is Elementwise.LRELU else names
    scales = tuple(Scale.from_register(registers, f"{name}_SCALE") for name in scale_names)
    if not rule.scaled and not all(scale.is_one for scale in scales):
        raise CommandError(f"{mode.name} with scaled inputs is not modelled")
    sizes = {element_type(registers, name).itemsize for name in names}
    if len(sizes) != 1:
        raise CommandError(f"{mode.name} of inputs that differ in element size is not modelled")
    wide = sizes == {_WORD // 8}
    if rule.word_only and not wide:
        raise CommandError(f"{mode.name} is modelled for 32-bit inputs only")
    if mode is Elementwise.MUL and wide:
        # The multiplier of OFM_SCALE has no room beside a 64-bit product: only the shift applies.
        output = replace(output, scale=replace(output.scale, multiplier=np.array(1)))
    elif mode in _UNSCALED and not output.scale.is_one:
        raise CommandError(f"{mode.name} with a scaled output is not modelled")
    return Arithmetic(
        mode,
        tuple(operand(registers, name, _broadcast(registers, name, output.shape)) for name in names),
        tuple(zero_point(registers, name) for name in names),
        scales,
        output,
        blocks_from_registers(registers),
    )


def _broadcast(registers: Registers, name: str, shape: Shape) -> Shape:
    """Return an operand's shape: 1 along each axis that IFM_BROADCAST or IFM2_BROADCAST names."""
    bits = registers.value(f"{name}_BROADCAST")
    height, width, depth = (1 if bits & bit else n for n, bit in zip(shape, _BROADCAST_BITS, strict=True))
    return height, width, depth
