"""Fixed-point scaling: a value times a multiplier, shifted right and rounded in one of six ways.

The rounding modes are those of OFM_SCALE and IFM_SCALE.  DOUBLE_SYMMETRIC rounds twice, as TensorFlow
Lite does (MultiplyByQuantizedMultiplier), DOUBLE_ASYMMETRIC like apply_scale_32 in the TOSA specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import CommandError
from harness.sim.npu.opcodes import Rounding
from harness.sim.npu.registers import Registers

Int = NDArray[np.int64]

PRODUCT_BITS = 62
"""|value * multiplier| has to stay below 2**62, so that no rounding constant overflows 64 bits."""

_FIRST_ROUNDING = 31  #: the bit at which the doubling high multiply rounds


def _half(shift: Int) -> Int:
    return np.where(shift > 0, np.left_shift(1, np.maximum(shift - 1, 0)), 0)


def _half_up(product: Int, shift: Int) -> Int:
    return (product + _half(shift)) >> shift


def _half_away(product: Int, shift: Int) -> Int:
    # One below a negative tie is no tie any more: rounded up, it goes to the neighbour away from zero.
    below = (product >> 63) & np.where(shift > 0, -1, 0)
    return (product + below + _half(shift)) >> shift


def _double_symmetric(product: Int, shift: Int, double_round: int) -> Int:
    first = np.minimum(shift, _FIRST_ROUNDING - double_round)
    rounded = _half_up(product, first)
    rest = shift - first
    return _half_away(rounded, rest) if rest.any() else rounded


def _double_asymmetric(product: Int, shift: Int, double_round: int) -> Int:
    if double_round:
        raise CommandError("DOUBLE_ASYMMETRIC with double_round is not modelled")
    nudge = np.where(shift > _FIRST_ROUNDING, 1 << _FIRST_ROUNDING - 1, 0)
    return _half_up(product + np.where(product >= 0, nudge, -nudge), shift)


def _toward_zero(product: Int, shift: Int) -> Int:
    return (product + ((product >> 63) & ~np.left_shift(-1, shift))) >> shift


_ROUND: dict[Rounding, Callable[[Int, Int, int], Int]] = {
    Rounding.DOUBLE_SYMMETRIC: _double_symmetric,
    Rounding.NATURAL: lambda product, shift, _: _half_up(product, shift),
    Rounding.DOUBLE_ASYMMETRIC: _double_asymmetric,
    Rounding.SYMMETRIC: lambda product, shift, _: _half_away(product, shift),
    Rounding.TRUNCATE_TO_ZERO: lambda product, shift, _: _toward_zero(product, shift),
    Rounding.TRUNCATE_TO_LOWER: lambda product, shift, _: product >> shift,
}


def round_shift(value: Int, shift: Int, rounding: Rounding, double_round: int = 0) -> Int:
    """Return value / 2**shift, rounded.  |value| < 2**62; 0 <= shift < 64, broadcast against value."""
    return _ROUND[rounding](value, shift, double_round)


@dataclass(frozen=True)
class Scale:
    """multiplier / 2**shift with its rounding; multiplier and shift are int64 scalars or one per channel."""

    multiplier: Int
    shift: Int
    rounding: Rounding
    double_round: int = 0

    @classmethod
    def from_register(cls, registers: Registers, name: str) -> Scale:
        """Read OFM_SCALE, IFM_SCALE or IFM2_SCALE."""
        return cls(
            np.array(registers.value(name, "scale"), np.int64),
            np.array(registers.value(name, "shift"), np.int64),
            registers.enum(Rounding, name, "rounding"),
            registers.value(name, "double_round"),
        )

    @property
    def is_one(self) -> bool:
        """Whether scaling leaves every value as it is."""
        return bool(np.all(self.multiplier == 1 << self.shift))

    def apply(self, values: Int) -> Int:
        """Scale `values`.  Raises CommandError when a product could pass 62 bits."""
        if self.is_one:
            return values
        largest = int(self.multiplier.max())
        if values.size and largest * int(np.abs(values).max()) >> PRODUCT_BITS:
            raise CommandError(f"a product with the scale {largest} is wider than {PRODUCT_BITS} bits")
        return round_shift(values * self.multiplier, self.shift, self.rounding, self.double_round)
