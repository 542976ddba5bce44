"""The arithmetic of calibration: a layer's exact accumulators, and how its output comes to use int8 well.

Everything is decided on integers and fractions. Floating point is used only on integers below 2^53, which it
adds and multiplies exactly in any order; so the result is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Exact = npt.NDArray[np.float64]  #: whole numbers below 2^53

_MULTIPLIER_BITS = 24  #: fixed-point position of a multiplier


def slide(
    values: Integers, kernel: tuple[int, int], stride: int, tap: Callable[[Exact, int, int], Exact]
) -> Integers:
    """Sums `tap(window, row, column)` over the kernel's positions, with TensorFlow's SAME padding.

    `values` is sample x height x width x channel, less its zero point, so that padding is 0. `window` holds
    the values under kernel position (row, column) for every output position.
    """
    (top, bottom, rows), (left, right, columns) = (
        _same_padding(size, extent, stride) for size, extent in zip(values.shape[1:3], kernel, strict=True)
    )
    padded = np.pad(values.astype(np.float64), ((0, 0), (top, bottom), (left, right), (0, 0)))
    taps = (
        tap(
            padded[:, row : row + rows * stride : stride, column : column + columns * stride : stride],
            row,
            column,
        )
        for row in range(kernel[0])
        for column in range(kernel[1])
    )
    total = next(taps)
    for term in taps:
        total = total + term
    return total.astype(np.int64)


def _same_padding(size: int, extent: int, stride: int) -> tuple[int, int, int]:
    """Padding before and after, and the output's size."""
    output = -(-size // stride)
    total = max((output - 1) * stride + extent - size, 0)
    # `slide` cuts whole steps out of the padded edge, which the last position need not fill.
    before = total // 2
    return before, total - before + stride - 1, output


def centre(accumulators: Integers) -> Integers:
    """The mean of each channel, rounded down; the channel is the last dimension."""
    rows = accumulators.reshape(-1, accumulators.shape[-1])
    mean: Integers = rows.sum(axis=0) // len(rows)
    return mean


def deviation(values: Integers) -> Integers:
    """The mean absolute value of each channel, rounded down, at least 1."""
    rows = np.abs(values.reshape(-1, values.shape[-1]))
    mean: Integers = np.maximum(rows.sum(axis=0) // len(rows), 1)
    return mean


def requantise(values: Integers, multipliers: Sequence[Fraction], zero_point: int) -> Integers:
    """`values` times each channel's multiplier (or the one of all), rounded half up, as int8."""
    fixed = np.array(
        [round(multiplier * (1 << _MULTIPLIER_BITS)) for multiplier in multipliers], dtype=np.int64
    )
    rounded = (values * fixed + (1 << (_MULTIPLIER_BITS - 1))) >> _MULTIPLIER_BITS
    clipped: Integers = np.clip(rounded + zero_point, -128, 127)
    return clipped


def with_mantissa(value: Fraction, bits: int) -> Fraction:
    """A positive value rounded to a mantissa of `bits` or `bits` + 1 bits, so that float32 holds it."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - bits
    unit = Fraction(2) ** exponent
    return round(value / unit) * unit
