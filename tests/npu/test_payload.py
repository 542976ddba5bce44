"""Driver payloads of both kinds are taken apart, and refused with a reason when they are none."""

from __future__ import annotations

import struct

import pytest

from harness.sim.npu import MAC_COUNTS, NpuConfig, PayloadError, parse_payload

STREAM = struct.pack("<3I", 0x01000109, 0x00004000, 0xFFFF0000)[:12]
CONFIG, ID = 0x20000118, 0x20007000


def cop2(stream=STREAM, magic=b"VEUM", total=None, version=1):
    metadata = magic + struct.pack("<8I", 1, 20, CONFIG, ID, 2, 256, 0, 0xFFFFFFFF)
    size = 12 + len(metadata) + len(stream) if total is None else total
    header = b"COP2" + struct.pack("<IQ", version, size)
    return header + struct.pack("<3I", 1, size - 8, len(metadata)) + metadata + stream


def cop1(stream=STREAM, first=0x00100001, words=None):
    words = len(stream) // 4 if words is None else words
    tag = 0x02 | (words & 0xFFFF) << 16 | (words >> 16) << 8
    return b"COP1" + struct.pack("<7I", first, CONFIG, ID, 5, 5, 5, tag) + stream


@pytest.mark.parametrize("payload", [cop1(), cop2()])
def test_payload_holds_the_stream_and_its_hardware(payload):
    parsed = parse_payload(payload)
    assert (parsed.config_word, parsed.id_word, parsed.stream) == (CONFIG, ID, STREAM)


def test_long_cop1_stream_has_its_length_in_two_parts():
    stream = b"\0\0\0\0" * 0x10001
    assert len(parse_payload(cop1(stream)).stream) == len(stream)


REFUSED = {
    "empty": (b"", "starts with COP1 or COP2"),
    "other magic": (b"COP3" + bytes(60), "starts with COP1 or COP2"),
    "cop2 header only": (cop2()[:20], "ends inside its header"),
    "cop2 cut off": (cop2()[:-4], "announces"),
    "cop2 other metadata": (cop2(magic=b"VEUN"), "VEUM"),
    "cop2 other version": (cop2(version=2), "version"),
    "cop1 header only": (cop1()[:12], "ends inside its header"),
    "cop1 cut off": (cop1(words=100), "12 of 400 bytes"),
    "cop1 unknown action": (cop1(first=0x07), "unknown driver action 0x7"),
    "cop1 without hardware": (cop1(first=0x05)[:8] + cop1()[16:], "which hardware"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bytes_that_are_no_payload_are_refused(name):
    payload, reason = REFUSED[name]
    with pytest.raises(PayloadError, match=reason):
        parse_payload(payload)


@pytest.mark.parametrize("macs", MAC_COUNTS)
def test_payload_of_the_compiler_names_the_hardware(network, macs):
    compiled = network("ds_cnn", macs).compiled
    parsed = parse_payload(compiled.command_stream)
    assert (parsed.config_word, parsed.id_word) == (NpuConfig(macs).config_word, NpuConfig(macs).id_word)


def test_hardware_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="there is no Ethos-U85 with 300 MACs"):
        NpuConfig(300)
