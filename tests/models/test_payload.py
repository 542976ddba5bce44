"""A payload's header says which NPU it is for, and whether direct drive can take it."""

from __future__ import annotations

import struct

import pytest

from harness.errors import ModelError
from harness.models.payload import read_payload_header

CONFIG_256, ID_U85 = 0x20000118, 0x20007000


def payload(config: int = CONFIG_256, features: int = 2, fourcc: bytes = b"VEUM") -> bytes:
    """A payload as Vela 5.2 lays it out, with a stream of one STOP."""
    stream = struct.pack("<I", 0xFFFF0000)
    metadata = struct.pack("<4sII IIIQ I", fourcc, 1, 20, config, ID_U85, features, 0, 0xFFFFFFFF)
    action = struct.pack("<III", 1, 4 + len(metadata) + len(stream), len(metadata)) + metadata + stream
    return struct.pack("<4sIQ", b"COP2", 1, len(action)) + action


@pytest.mark.parametrize(
    ("config", "macs"),
    [(0x20000117, 128), (0x20000118, 256), (0x20001119, 512), (0x2000251A, 1024), (0x2000261B, 2048)],
)
def test_the_config_word_gives_the_mac_count(config: int, macs: int) -> None:
    assert read_payload_header("net", payload(config)).macs == macs


def test_the_words_are_those_of_the_hardware() -> None:
    header = read_payload_header("net", payload())
    assert (header.config, header.npu_id) == (CONFIG_256, ID_U85)


def test_a_microcontroller_payload_is_refused() -> None:
    with pytest.raises(ModelError, match="net was compiled to the COP1 format") as caught:
        read_payload_header("net", b"COP1" + bytes(100))
    assert "--cop-format COP2 --separate-io-regions" in caught.value.hint


def test_a_payload_with_its_tensors_in_scratch_is_refused() -> None:
    with pytest.raises(ModelError, match="keeps its inputs and outputs in the scratch region"):
        read_payload_header("net", payload(features=1))


def test_a_payload_for_another_npu_is_refused() -> None:
    with pytest.raises(ModelError, match="not compiled for an Ethos-U85: its CONFIG word is 0x10000118"):
        read_payload_header("net", payload(config=0x10000118))


def test_foreign_metadata_is_refused() -> None:
    with pytest.raises(ModelError, match="without metadata"):
        read_payload_header("net", payload(fourcc=b"MUEV"))


def test_bytes_of_another_kind_are_refused() -> None:
    with pytest.raises(ModelError, match="net has no Ethos-U payload"):
        read_payload_header("net", b"\0" * 100)


def test_a_truncated_payload_is_refused() -> None:
    with pytest.raises(ModelError, match="net has a damaged payload"):
        read_payload_header("net", payload()[:-4])


def test_a_payload_shorter_than_its_header_is_refused() -> None:
    with pytest.raises(ModelError, match="net has no Ethos-U payload"):
        read_payload_header("net", payload()[:20])
