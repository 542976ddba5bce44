"""Fixed-point scaling: a value times a multiplier, shifted right and rounded in one of six ways.

The rounding modes are those of OFM_SCALE and IFM_SCALE.  DOUBLE_SYMMETRIC rounds twice, as TensorFlow
Lite does (MultiplyByQuantizedMultiplier), DOUBLE_ASYMMETRIC like apply_scale_32 in the TOSA specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import CommandError
from harness.sim.npu.opcodes import Rounding
from harness.sim.npu.registers import Registers

Int = NDArray[np.int64]

LARGEST_PRODUCT = 1 << 62
"""Largest |value * multiplier|: the square of the lowest 32-bit number.

Rounding it overflows nothing, but for a shift by 63, whose half of the last bit is as large again.
"""

LARGEST_SHIFT = 63

_FIRST_ROUNDING = 31  #: the bit at which TensorFlow Lite's doubling high multiply rounds


@dataclass(frozen=True)
class Shift:
    """A right shift by 0 to 63 bits and the ways to round it.

    `bits` is one number or one per channel.  All methods change their argument in place and return it.
    """

    bits: Int
    rounding: Rounding
    double_round: int = 0

    def apply(self, values: Int) -> Int:
        """Return values / 2**bits, rounded as `rounding` says.  No |value| is above LARGEST_PRODUCT."""
        return _ROUND[self.rounding](self, values)

    def to_lower(self, values: Int) -> Int:
        """Round towards minus infinity."""
        values >>= self.bits
        return values

    def to_zero(self, values: Int) -> Int:
        """Round towards zero."""
        values += (values >> 63) & ~np.left_shift(-1, self.bits)
        return self.to_lower(values)

    def half_up(self, values: Int) -> Int:
        """Round to nearest, ties towards plus infinity."""
        values += self._half
        values >>= self.bits
        return values

    def half_away(self, values: Int) -> Int:
        """Round to nearest, ties away from zero."""
        # One below a negative tie is no tie any more: rounded half up, it goes away from zero.
        values += (values >> 63) & self._one
        values += self._half
        values >>= self.bits
        return values

    def twice_symmetric(self, values: Int) -> Int:
        """Round half up at bit 31 - double_round, then the rest of the shift half away from zero."""
        first, rest = self._parts
        values = first.half_up(values)
        return values if rest is None else rest.half_away(values)

    def twice_asymmetric(self, values: Int) -> Int:
        """Round half up, after a nudge away from zero by half of bit 31 where the shift goes beyond it."""
        if self.double_round:
            raise CommandError("DOUBLE_ASYMMETRIC with double_round is not modelled")
        nudge = np.where(self.bits > _FIRST_ROUNDING, 1 << _FIRST_ROUNDING - 1, 0)
        values += np.where(values >= 0, nudge, -nudge)
        return self.half_up(values)

    @cached_property
    def _half(self) -> Int:
        return np.where(self.bits > 0, np.left_shift(1, np.maximum(self.bits - 1, 0)), 0)

    @cached_property
    def _one(self) -> Int:
        return np.where(self.bits > 0, -1, 0)

    @cached_property
    def _parts(self) -> tuple[Shift, Shift | None]:
        """Return the two shifts of a double rounding, None for a second by no bits."""
        first = np.minimum(self.bits, _FIRST_ROUNDING - self.double_round)
        rest = self.bits - first
        return Shift(first, Rounding.NATURAL), Shift(rest, Rounding.SYMMETRIC) if rest.any() else None


_ROUND: dict[Rounding, Callable[[Shift, Int], Int]] = {
    Rounding.DOUBLE_SYMMETRIC: Shift.twice_symmetric,
    Rounding.NATURAL: Shift.half_up,
    Rounding.DOUBLE_ASYMMETRIC: Shift.twice_asymmetric,
    Rounding.SYMMETRIC: Shift.half_away,
    Rounding.TRUNCATE_TO_ZERO: Shift.to_zero,
    Rounding.TRUNCATE_TO_LOWER: Shift.to_lower,
}


@dataclass(frozen=True)
class Scale:
    """multiplier / 2**shift; the multiplier is one number or one per channel."""

    multiplier: Int
    shift: Shift

    @classmethod
    def from_register(cls, registers: Registers, name: str) -> Scale:
        """Read OFM_SCALE, IFM_SCALE or IFM2_SCALE.  Raises CommandError."""
        bits = np.array(registers.value(name, "shift"), np.int64)
        rounding = registers.enum(Rounding, name, "rounding")
        return cls(
            np.array(registers.value(name, "scale"), np.int64),
            Shift(bits, rounding, registers.value(name, "double_round")),
        )

    @cached_property
    def is_one(self) -> bool:
        """Whether scaling leaves every value as it is."""
        return bool(np.all(self.multiplier == np.left_shift(1, self.shift.bits)))

    def apply(self, values: Int, largest: int | None = None) -> Int:
        """Return the scaled values.  Raises CommandError when a product passes LARGEST_PRODUCT.

        Values known to be no larger than `largest` are looked through only when that does not rule it out.
        """
        if self.is_one:
            return values
        largest_multiplier, limit = self._limits
        if (largest is None or largest > limit) and np.abs(values).max() > limit:
            raise CommandError(f"a product with the scale {largest_multiplier} passes {LARGEST_PRODUCT}")
        return self.shift.apply(values * self.multiplier)

    @cached_property
    def _limits(self) -> tuple[int, int]:
        """Return the largest multiplier, and the largest value that may be multiplied by it."""
        largest = max(1, int(self.multiplier.max()))
        spare = 1 << _FIRST_ROUNDING if self.shift.bits.max() == LARGEST_SHIFT else 0
        return largest, (LARGEST_PRODUCT - spare) // largest
