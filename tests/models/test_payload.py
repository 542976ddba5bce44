"""A payload says which NPU it is for, and how it was compiled."""

from __future__ import annotations

import struct

import pytest

from harness.errors import ModelError
from harness.models.payload import payload_macs, payload_options, used_regions

CONFIG_256, ID_U85 = 0x20000118, 0x20007000
STOP = struct.pack("<I", 0xFFFF0000)


def cop2(config: int = CONFIG_256, features: int = 2, fourcc: bytes = b"VEUM") -> bytes:
    """A payload as Vela 5.2 lays it out, with a stream of one STOP."""
    metadata = struct.pack("<4sII IIIQ I", fourcc, 1, 20, config, ID_U85, features, 0, 0xFFFFFFFF)
    action = struct.pack("<III", 1, 4 + len(metadata) + len(STOP), len(metadata)) + metadata + STOP
    return struct.pack("<4sIQ", b"COP2", 1, len(action)) + action


def cop1(config: int = CONFIG_256) -> bytes:
    """The same for a microcontroller: an action for the NPU, and one with the stream."""
    return struct.pack("<4sIIII", b"COP1", 1, config, ID_U85, 1 << 16 | 2) + STOP


@pytest.mark.parametrize("payload", [cop1, cop2])
@pytest.mark.parametrize(
    ("config", "macs"),
    [(0x20000117, 128), (0x20000118, 256), (0x20001119, 512), (0x2000251A, 1024), (0x2000261B, 2048)],
)
def test_the_config_word_gives_the_mac_count(payload, config: int, macs: int) -> None:
    assert payload_macs("net", payload(config)) == macs


@pytest.mark.parametrize(
    ("payload", "options"),
    [
        (cop1(), ("--cop-format=COP1",)),
        (cop2(), ("--cop-format=COP2", "--separate-io-regions")),
        (cop2(features=1), ("--cop-format=COP2",)),
    ],
    ids=["cop1", "separate", "in-scratch"],
)
def test_it_proves_options_of_the_compiler(payload: bytes, options: tuple[str, ...]) -> None:
    assert payload_options(payload) == options


def test_a_stream_that_does_nothing_uses_no_region() -> None:
    assert used_regions("net", cop2()) == ()


@pytest.mark.parametrize("payload", [cop1, cop2])
def test_a_payload_for_another_npu_is_refused(payload) -> None:
    with pytest.raises(ModelError, match="not compiled for an Ethos-U85: its CONFIG word is 0x10000118"):
        payload_macs("net", payload(config=0x10000118))


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (cop2(fourcc=b"MUEV"), "starts with b'MUEV', not with VEUM"),
        (b"\0" * 100, "starts with COP1 or COP2, not with"),
        (cop2()[:-4], "announces 52 bytes after its header and has 48"),
        (cop2()[:20], "ends inside its header"),
        (cop1()[:-4], "has 0 of 4 bytes"),
        (cop1()[:12], "ends inside its header"),
    ],
    ids=["metadata", "foreign", "truncated", "short", "truncated-cop1", "short-cop1"],
)
def test_a_damaged_payload_is_refused_with_the_reason(payload: bytes, reason: str) -> None:
    with pytest.raises(ModelError, match=f"net has no Ethos-U payload: .*{reason}"):
        payload_macs("net", payload)
