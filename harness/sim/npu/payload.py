"""The driver payload around a command stream: COP1 of the TensorFlow Lite operator, COP2 of direct drive.

Both layouts as in Vela 5.2, regor/tflite/custom_operator_ethosu.hpp.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_OPTIMIZER_CONFIG, _COMMAND_STREAM, _NOP = 0x01, 0x02, 0x05  #: COP1 tags, bits [7:0]
_COP2_VERSION = 1
_COP2_STREAM_ENTRY = 1
_COP2_METADATA_START = 28  #: byte offset of "VEUM"


class PayloadError(ValueError):
    """The bytes are no driver payload; the message says why."""


@dataclass(frozen=True)
class Payload:
    """A command stream with the CONFIG and ID words of the hardware it was compiled for."""

    config_word: int
    id_word: int
    stream: bytes


def parse_payload(data: bytes) -> Payload:
    """Take a payload apart.  Raises PayloadError."""
    parsers = {b"COP1": _parse_cop1, b"COP2": _parse_cop2}
    parser = parsers.get(data[:4])
    if parser is None:
        raise PayloadError(f"a payload starts with COP1 or COP2, not with {data[:4]!r}")
    try:
        return parser(data)
    except struct.error as error:
        raise PayloadError(f"the payload of {len(data)} bytes ends inside its header") from error


def _parse_cop1(data: bytes) -> Payload:
    """Read tagged words: tag [7:0], parameter [31:16], and for the stream the length's top bits in [15:8]."""
    config_word = id_word = None
    position = 4
    while True:
        (word,) = struct.unpack_from("<I", data, position)
        position += 4
        tag = word & 0xFF
        if tag == _OPTIMIZER_CONFIG:
            config_word, id_word = struct.unpack_from("<2I", data, position)
            position += 8
        elif tag == _COMMAND_STREAM:
            break
        elif tag != _NOP:
            raise PayloadError(f"unknown driver action {tag:#x} at byte {position - 4}")
    if config_word is None or id_word is None:
        raise PayloadError("the payload does not say which hardware it is for")
    size = 4 * (word >> 16 | (word >> 8 & 0xFF) << 16)
    stream = data[position : position + size]
    if len(stream) != size:
        raise PayloadError(f"the command stream has {len(stream)} of {size} bytes")
    return Payload(config_word, id_word, stream)


def _parse_cop2(data: bytes) -> Payload:
    """Read the one entry a COP2 payload has: its metadata, then the stream up to the entry's end."""
    version, total, entry, entry_size, metadata_size = struct.unpack_from("<IQ3I", data, 4)
    if version != _COP2_VERSION or entry != _COP2_STREAM_ENTRY:
        raise PayloadError(
            f"not a version 1.0 command stream payload (version {version:#x}, entry type {entry})"
        )
    if total != len(data) - 16 or entry_size != total - 8:
        raise PayloadError(f"the payload announces {total} bytes after its header and has {len(data) - 16}")
    magic, _, _, config_word, id_word = struct.unpack_from("<4s4I", data, _COP2_METADATA_START)
    if magic != b"VEUM":
        raise PayloadError(f"the stream's metadata starts with {magic!r}, not with VEUM")
    return Payload(config_word, id_word, data[_COP2_METADATA_START + metadata_size :])
