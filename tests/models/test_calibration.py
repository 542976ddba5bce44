"""The integer arithmetic of calibration agrees with the plain definition of each step."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from harness.models.calibration import centre, deviation, requantise, slide, with_mantissa

Values = npt.NDArray[np.int64]


def plain_convolution(values: Values, weights: Values, stride: int) -> Values:
    """A convolution as its definition reads: weights are row x column x input x output channel."""
    samples, height, width, _ = values.shape
    rows, columns, _, channels = weights.shape
    out_height, out_width = -(-height // stride), -(-width // stride)
    top = max((out_height - 1) * stride + rows - height, 0) // 2
    left = max((out_width - 1) * stride + columns - width, 0) // 2
    output = np.zeros((samples, out_height, out_width, channels), dtype=np.int64)
    for y, x, row, column in np.ndindex(out_height, out_width, rows, columns):
        source_y, source_x = y * stride + row - top, x * stride + column - left
        if 0 <= source_y < height and 0 <= source_x < width:
            output[:, y, x] += values[:, source_y, source_x] @ weights[row, column]
    return output


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kernel", [(1, 1), (3, 3), (10, 4)], ids=str)
@pytest.mark.parametrize("size", [(5, 5), (6, 7)], ids=str)
def test_sliding_is_convolution(kernel: tuple[int, int], stride: int, size: tuple[int, int]) -> None:
    generator = np.random.default_rng(1)
    values = generator.integers(-255, 256, (2, *size, 3))
    weights = generator.integers(-127, 128, (*kernel, 3, 4))
    exact = weights.astype(np.float64)
    slid = slide(values, kernel, stride, lambda window, row, column: window @ exact[row, column])
    np.testing.assert_array_equal(slid, plain_convolution(values, weights, stride))


def test_the_centre_is_each_channels_mean() -> None:
    assert centre(np.array([[[1, -10]], [[4, -11]]])).tolist() == [2, -11]


def test_the_deviation_is_each_channels_mean_absolute_value() -> None:
    assert deviation(np.array([[3, -10], [-5, 20]])).tolist() == [4, 15]


def test_a_constant_channel_still_has_a_deviation() -> None:
    assert deviation(np.zeros((4, 1), dtype=np.int64)).tolist() == [1]


def test_requantising_rounds_half_up() -> None:
    values = np.array([[-3], [-1], [1], [3]])
    assert requantise(values, [Fraction(1, 2)], zero_point=0).ravel().tolist() == [-1, 0, 1, 2]


def test_requantising_stays_within_int8() -> None:
    assert requantise(np.array([[1000], [-1000]]), [Fraction(1)], zero_point=5).ravel().tolist() == [
        127,
        -128,
    ]


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Fraction(7), Fraction(123456789, 1000), Fraction(1, 10**9)]
)
@pytest.mark.parametrize("bits", [6, 12])
def test_a_mantissa_fits_and_is_near(value: Fraction, bits: int) -> None:
    rounded = with_mantissa(value, bits)
    odd = rounded.numerator // (rounded.numerator & -rounded.numerator)
    assert odd.bit_length() <= bits + 1
    assert abs(rounded - value) <= value / 2 ** (bits - 1)
    assert Fraction(float(np.float32(float(rounded)))) == rounded
