"""Fast weight streams: the three code widths, the table, the zero adjustment, and what is refused."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sim.npu.weights import WeightError
from harness.sim.npu.weights.fwd import decode_fwd

RAW, SMALL = 1, 2


def fold(weight: int) -> int:
    return 2 * abs(weight) + (weight < 0)


def stream(
    codes: list[int], width: int, flags: int = 0, adjust: int = 0, table: list[int] | None = None
) -> bytes:
    """A stream with weights of `width` bits, header and weights padded to 32 bytes each."""
    header = flags | (adjust & 0xFF) << 104
    for entry, weight in enumerate(table or []):
        header |= fold(weight) << (112 + 9 * entry)
    body = sum(code << (width * place) for place, code in enumerate(codes))
    size = -(-len(codes) * width // 256) * 32
    return header.to_bytes(32, "little") + body.to_bytes(size, "little")


def test_two_bit_codes_go_through_the_small_table():
    codes = [0, 1, 2, 3, 3, 0] * 30
    table = [5, -7, 0, 255]
    assert decode_fwd(stream(codes, 2, SMALL, table=table), 180).tolist() == [table[code] for code in codes]


def test_four_bit_codes_go_through_the_table():
    table = [0, -1, 1, -255, 255, 9, -9, 12, -12, 13, -13, 14, -14, 100, -100, 77]
    codes = list(range(16)) * 5
    assert decode_fwd(stream(codes, 4, table=table), 80).tolist() == table * 5


@pytest.mark.parametrize(("adjust", "first", "last"), [(0, -128, 127), (127, -255, 0), (-128, 0, 255)])
def test_raw_weights_are_shifted_back_by_the_zero_adjustment(adjust, first, last):
    weights = np.arange(first, last + 1)
    codes = (weights + adjust & 0xFF).tolist()
    np.testing.assert_array_equal(decode_fwd(stream(codes, 8, RAW, adjust), 256), weights)


@pytest.mark.parametrize("count", [127, 129])
def test_length_is_exact(count):
    data = stream([1] * 128, 2, SMALL)
    with pytest.raises(WeightError, match="fast weight stream"):
        decode_fwd(data, count)


def test_missing_header_is_refused():
    with pytest.raises(WeightError, match="16 bytes has no header"):
        decode_fwd(bytes(16), 0)


def test_raw_weights_with_a_small_table_are_refused():
    with pytest.raises(WeightError, match="at once"):
        decode_fwd(stream([0], 8, RAW | SMALL), 1)


@pytest.mark.parametrize("bit", [2, 50, 103])
def test_reserved_header_bits_are_refused(bit):
    with pytest.raises(WeightError, match="reserved"):
        decode_fwd(stream([0], 8, RAW | 1 << bit), 1)


def test_codes_in_the_padding_are_refused():
    with pytest.raises(WeightError, match="padded with something else"):
        decode_fwd(stream([1, 1, 1], 8, RAW), 2)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=100), count=st.integers(0, 300))
def test_any_bytes_are_weights_or_an_error(data, count):
    with suppress(WeightError):
        assert len(decode_fwd(data, count)) == count
