"""Scaling rounds as its six modes say, checked against plain Python integers and fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sim.npu.faults import CommandError
from harness.sim.npu.opcodes import Rounding
from harness.sim.npu.scaling import Scale, Shift


def nearest_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def nearest_away(value: Fraction) -> int:
    return int(math.copysign(1, value)) * nearest_up(abs(value))


def tensorflow_lite(value: int, multiplier: int, shift: int, double_round: int) -> int:
    """SaturatingRoundingDoublingHighMul and RoundingDivideByPOT, for high multiplies of any width."""
    high = min(shift, 31 - double_round)
    return nearest_away(Fraction(nearest_up(Fraction(value * multiplier, 2**high)), 2 ** (shift - high)))


def tosa(value: int, multiplier: int, shift: int) -> int:
    """apply_scale_32 with double_round, from the pseudo-code of the TOSA specification."""
    rounding = 2 ** (shift - 1)
    if shift > 31:
        rounding += 2**30 if value >= 0 else -(2**30)
    return (value * multiplier + rounding) // 2**shift


def exact(value: int, multiplier: int, shift: int) -> Fraction:
    return Fraction(value * multiplier, 2**shift)


ORACLES = {
    Rounding.DOUBLE_SYMMETRIC: lambda v, m, s: tensorflow_lite(v, m, s, 0),
    Rounding.NATURAL: lambda v, m, s: nearest_up(exact(v, m, s)),
    Rounding.DOUBLE_ASYMMETRIC: tosa,
    Rounding.SYMMETRIC: lambda v, m, s: nearest_away(exact(v, m, s)),
    Rounding.TRUNCATE_TO_ZERO: lambda v, m, s: math.trunc(exact(v, m, s)),
    Rounding.TRUNCATE_TO_LOWER: lambda v, m, s: math.floor(exact(v, m, s)),
}

values = st.integers(-(2**31), 2**31 - 1) | st.sampled_from([0, 1, -1, 3, -3, 2**30, -(2**30)])
multipliers = st.integers(0, 2**31 - 1) | st.integers(0, 30).map(lambda bit: 2**bit)
shifts = st.integers(1, 62)


def scaled(value, multiplier, shift, rounding, double_round=0):
    scale = Scale(np.array(multiplier), Shift(np.array(shift), rounding, double_round))
    return int(scale.apply(np.array([value]))[0])


@pytest.mark.parametrize("rounding", list(Rounding))
@given(value=values, multiplier=multipliers, shift=shifts)
def test_rounding_mode_agrees_with_integers_of_any_size(rounding, value, multiplier, shift):
    assert scaled(value, multiplier, shift, rounding) == ORACLES[rounding](value, multiplier, shift)


@given(value=values, multiplier=multipliers, shift=shifts, double_round=st.integers(0, 31))
def test_double_round_moves_the_first_rounding(value, multiplier, shift, double_round):
    expected = tensorflow_lite(value, multiplier, shift, double_round)
    assert scaled(value, multiplier, shift, Rounding.DOUBLE_SYMMETRIC, double_round) == expected


@given(value=st.integers(-(2**20), 2**20), multiplier=st.integers(0, 2**31 - 1))
@pytest.mark.parametrize("rounding", [Rounding.NATURAL, Rounding.SYMMETRIC, Rounding.TRUNCATE_TO_ZERO])
def test_shift_by_all_63_bits_does_not_overflow(rounding, value, multiplier):
    assert scaled(value, multiplier, 63, rounding) == ORACLES[rounding](value, multiplier, 63)


@pytest.mark.parametrize(
    ("value", "rounding", "expected"),
    [
        (-3, Rounding.NATURAL, -1),
        (-3, Rounding.SYMMETRIC, -2),
        (-3, Rounding.TRUNCATE_TO_ZERO, -1),
        (-3, Rounding.TRUNCATE_TO_LOWER, -2),
        (3, Rounding.NATURAL, 2),
        (3, Rounding.TRUNCATE_TO_LOWER, 1),
    ],
)
def test_tie_shows_which_mode_is_at_work(value, rounding, expected):
    assert scaled(value, 1, 1, rounding) == expected


def test_oracle_tells_double_from_single_rounding():
    value, multiplier, shift = -1, 3 * 2**29, 32
    assert tensorflow_lite(value, multiplier, shift, 0) != nearest_away(exact(value, multiplier, shift))


@pytest.mark.parametrize("rounding", list(Rounding))
def test_channels_have_scales_of_their_own(rounding):
    multipliers, bits = np.array([3, 2**30, 12345]), np.array([0, 33, 7])
    data = np.array([[-7, 1000003, -99], [7, -2, 64]])
    result = Scale(multipliers, Shift(bits, rounding)).apply(data)
    one_by_one = [
        [scaled(int(v), int(m), int(s), rounding) for v, m, s in zip(row, multipliers, bits, strict=True)]
        for row in data
    ]
    assert result.tolist() == one_by_one


def test_scaling_leaves_its_input_alone():
    data = np.array([5, -5])
    Scale(np.array(3), Shift(np.array(1), Rounding.NATURAL)).apply(data)
    assert data.tolist() == [5, -5]


def test_product_of_the_lowest_words_is_still_computed():
    lowest = -(2**31)
    product = np.array([lowest]) * lowest
    assert Shift(np.array(31), Rounding.NATURAL).apply(product).tolist() == [2**31]


@pytest.mark.parametrize("shift", [0, 31, 63])
def test_product_beyond_62_bits_is_refused(shift):
    with pytest.raises(CommandError, match="product"):
        scaled(2**33, 2**30, shift, Rounding.NATURAL)


def test_asymmetric_rounding_with_double_round_is_refused():
    with pytest.raises(CommandError, match="not modelled"):
        scaled(1, 3, 4, Rounding.DOUBLE_ASYMMETRIC, double_round=1)
