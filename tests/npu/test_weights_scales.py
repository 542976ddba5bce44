"""Scale streams: both entry formats, signs, and what is refused."""

from __future__ import annotations

import struct

import pytest

from harness.sim.npu.weights import WeightError, decode_scales


def entry32(bias: int, scale: int, shift: int, spare: int = 0) -> bytes:
    return struct.pack("<iIBB", bias, scale, shift, spare)


def entry48(bias: int, scale: int, shift: int) -> bytes:
    return bias.to_bytes(6, "little", signed=True) + struct.pack("<HBB", scale, shift, 0)


@pytest.mark.parametrize("bias", [0, -1, -(2**31), 2**31 - 1])
def test_32_bit_bias_is_signed(bias):
    assert decode_scales(entry32(bias, 1, 0), 1, acc48=False).bias.tolist() == [bias]


@pytest.mark.parametrize("bias", [0, -1, -(2**47), 2**47 - 1])
def test_48_bit_bias_is_signed(bias):
    assert decode_scales(entry48(bias, 1, 0), 1, acc48=True).bias.tolist() == [bias]


def test_scales_and_shifts_stand_in_channel_order():
    table = decode_scales(entry32(0, 2**31 - 1, 63) + entry32(0, 5, 6) + bytes(12), 2, acc48=False)
    assert (table.scale.tolist(), table.shift.tolist()) == ([2**31 - 1, 5], [63, 6])


def test_48_bit_entry_has_a_15_bit_scale():
    assert decode_scales(entry48(-1, 2**15 - 1, 0), 1, acc48=True).scale.tolist() == [2**15 - 1]


def test_short_stream_is_refused():
    with pytest.raises(WeightError, match="16 bytes is too short for 2 channels"):
        decode_scales(bytes(16), 2, acc48=False)


RESERVED = {
    "scale of 32 bits": (entry32(0, 2**31, 0), False),
    "scale of 16 bits": (entry48(0, 2**15, 0), True),
    "shift of 7 bits": (entry32(0, 0, 64), False),
    "last byte": (entry32(0, 0, 0, 1), False),
}


@pytest.mark.parametrize(("data", "acc48"), RESERVED.values(), ids=RESERVED.keys())
def test_reserved_bits_are_refused(data, acc48):
    with pytest.raises(WeightError, match="reserved"):
        decode_scales(data, 1, acc48)
