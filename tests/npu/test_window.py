"""A kernel window sees the input elements that its stride, dilation and padding say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sim.npu.opcodes import Upscale
from harness.sim.npu.window import Window

small = st.integers(1, 4)


@st.composite
def windows(draw):
    """Windows on inputs that are not empty."""
    ofm, kernel, stride, dilation = ((draw(small), draw(small)) for _ in range(4))
    padded = tuple(
        (o - 1) * s + (k - 1) * d + 1 for o, k, s, d in zip(ofm, kernel, stride, dilation, strict=True)
    )
    before = tuple(draw(st.integers(0, size - 1)) for size in padded)
    after = tuple(draw(st.integers(0, size - 1 - pad)) for size, pad in zip(padded, before, strict=True))
    inside = tuple(size - a - b for size, a, b in zip(padded, before, after, strict=True))
    return Window(ofm, kernel, stride, dilation, before, padded, inside, Upscale.NONE)


def position(window, y, x, ky, kx):
    """Where in the input a kernel element lies, said in the plainest way; it may lie outside."""
    return (
        y * window.stride[0] + ky * window.dilation[0] - window.before[0],
        x * window.stride[1] + kx * window.dilation[1] - window.before[1],
    )


@given(windows())
def test_every_element_is_where_it_should_be(window):
    ifm = np.arange(1, 1 + np.prod(window.inside)).reshape(*window.inside, 1)
    seen = window.windows(window.pad(ifm, fill=0))
    for y, x in itertools.product(*map(range, window.ofm)):
        for ky, kx in itertools.product(*map(range, window.kernel)):
            row, column = position(window, y, x, ky, kx)
            inside = 0 <= row < window.inside[0] and 0 <= column < window.inside[1]
            assert seen[y, x, ky, kx, 0] == (ifm[row, column, 0] if inside else 0)


@given(windows())
def test_valid_elements_are_those_that_are_not_padding(window):
    ones = np.ones((*window.inside, 1), np.int8)
    seen = window.windows(window.pad(ones, fill=0))
    assert np.array_equal(window.valid, seen.sum((2, 3)))


@pytest.mark.parametrize(
    ("upscale", "expected"),
    [(Upscale.NEAREST, [[7, 7, 8], [7, 7, 8]]), (Upscale.ZEROS, [[7, 2, 8], [2, 2, 2]])],
)
def test_upscaling_doubles_both_axes(upscale, expected):
    window = Window((2, 3), (1, 1), (1, 1), (1, 1), (0, 0), (2, 3), (2, 3), upscale)
    assert window.ifm == (1, 2)
    ifm = np.array([[[7], [8]]])
    assert window.pad(ifm, fill=0, zero_point=2)[:, :, 0].tolist() == expected
