"""Fixed-point scaling: a value times a multiplier, shifted right and rounded in one of six ways.

The rounding modes are those of OFM_SCALE and IFM_SCALE.  DOUBLE_SYMMETRIC rounds twice, as TensorFlow
Lite does (MultiplyByQuantizedMultiplier), DOUBLE_ASYMMETRIC like apply_scale_32 in the TOSA specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

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

_SIGN = np.array(63)  #: shifted right by this, negative numbers become -1 and others 0


class _Terms(NamedTuple):
    """A rounding mode as numbers, so that all six are computed alike.

    (p + offset + (correction where p < threshold)) >> bits
    """

    offset: Int
    threshold: Int
    correction: Int


@dataclass(frozen=True)
class Shift:
    """A right shift by 0 to 63 bits, and how to round it; `bits` is one number or one per channel."""

    bits: Int
    rounding: Rounding
    double_round: int = 0

    def apply(self, values: Int) -> Int:
        """Return values / 2**bits, rounded as `rounding` says.  No |value| is above LARGEST_PRODUCT."""
        return self.finish(values + self.offset)

    @cached_property
    def offset(self) -> Int:
        """What a caller may add to the values together with numbers of its own, and then `finish`."""
        return self._terms.offset

    def finish(self, values: Int) -> Int:
        """Round values to which `offset` has been added.  Changes them in place and returns them."""
        if self._corrects:
            below = values - self._bound
            below >>= _SIGN
            below &= self._terms.correction
            values += below
        values >>= self.bits
        return values

    @cached_property
    def _corrects(self) -> bool:
        return bool(self._terms.correction.any())

    @cached_property
    def _bound(self) -> Int:
        """The threshold as it is for values to which the offset has been added."""
        return np.asarray(self._terms.threshold + self._terms.offset)

    @cached_property
    def _terms(self) -> _Terms:
        return _Terms(*map(np.asarray, _ROUND[self.rounding](self.bits, self.double_round)))


def _half(bits: Int) -> Int:
    return np.where(bits > 0, np.left_shift(1, np.maximum(bits - 1, 0)), 0)


def _one(bits: Int) -> Int:
    """One below a negative tie is no tie any more: rounded half up, it goes away from zero."""
    return np.where(bits > 0, -1, 0)


def _twice_symmetric(bits: Int, double_round: int) -> tuple[Int, Int, Int]:
    """Round half up at bit 31 - double_round, then the rest of the shift half away from zero."""
    first = np.minimum(bits, _FIRST_ROUNDING - double_round)
    rest = bits - first
    return _half(first) + (_half(rest) << first), -_half(first), _one(rest) << first


def _twice_asymmetric(bits: Int, double_round: int) -> tuple[Int, int, Int]:
    """Round half up, after a nudge away from zero by half of bit 31 where the shift goes beyond it."""
    if double_round:
        raise CommandError("DOUBLE_ASYMMETRIC with double_round is not modelled")
    nudge = np.where(bits > _FIRST_ROUNDING, 1 << _FIRST_ROUNDING - 1, 0)
    return _half(bits) + nudge, 0, -2 * nudge


_ROUND: dict[Rounding, Callable[[Int, int], tuple[Int | int, Int | int, Int | int]]] = {
    Rounding.DOUBLE_SYMMETRIC: _twice_symmetric,
    Rounding.NATURAL: lambda bits, _: (_half(bits), 0, 0),
    Rounding.DOUBLE_ASYMMETRIC: _twice_asymmetric,
    Rounding.SYMMETRIC: lambda bits, _: (_half(bits), 0, _one(bits)),
    Rounding.TRUNCATE_TO_ZERO: lambda bits, _: (0, 0, ~np.left_shift(-1, bits)),
    Rounding.TRUNCATE_TO_LOWER: lambda *_: (0, 0, 0),
}
"""Offset, threshold and correction of each mode, from `bits` and `double_round`."""


@dataclass(frozen=True)
class Scale:
    """(value + bias) * multiplier / 2**shift, all of them one number or one per channel."""

    multiplier: Int
    shift: Shift
    bias: Int = field(default_factory=lambda: np.array(0))

    @staticmethod
    def from_register(registers: Registers, name: str) -> Scale:
        """Read OFM_SCALE, IFM_SCALE or IFM2_SCALE.  Raises CommandError."""
        return _one_for_all(
            registers.value(name, "scale"),
            registers.value(name, "shift"),
            registers.enum(Rounding, name, "rounding"),
            registers.value(name, "double_round"),
        )

    @cached_property
    def is_one(self) -> bool:
        """Whether scaling leaves every value as it is."""
        return bool(np.all(self.multiplier == np.left_shift(1, self.shift.bits))) and not self.bias.any()

    def apply(self, values: Int, largest: int | None = None) -> Int:
        """Return the scaled values.  Raises CommandError when a product passes LARGEST_PRODUCT.

        Values that are known to be no larger than `largest` with their bias are looked through only when that
        does not rule it out.
        """
        if self.is_one:
            return values
        largest_multiplier, limit = self._limits
        if (largest is None or largest > limit) and np.abs(values + self.bias).max() > limit:
            raise CommandError(f"a product with the scale {largest_multiplier} passes {LARGEST_PRODUCT}")
        products = values * self.multiplier
        products += self._offset
        return self.shift.finish(products)

    @cached_property
    def _offset(self) -> Int:
        return np.asarray(self.bias * self.multiplier + self.shift.offset)

    @cached_property
    def _limits(self) -> tuple[int, int]:
        """Return the largest multiplier, and the largest value that may be multiplied by it."""
        largest = max(1, int(self.multiplier.max()))
        spare = 1 << _FIRST_ROUNDING if self.shift.bits.max() == LARGEST_SHIFT else 0
        return largest, (LARGEST_PRODUCT - spare) // largest


@lru_cache
def _one_for_all(multiplier: int, bits: int, rounding: Rounding, double_round: int) -> Scale:
    """Return the scale of all channels; most operations of a network have one of a few."""
    return Scale(np.array(multiplier), Shift(np.array(bits), rounding, double_round))
