"""The header of a direct-drive payload: what the compiler says of the NPU the stream is for.

Layout: Vela 5.2, regor/tflite/custom_operator_ethosu.hpp.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from harness.errors import ModelError
from harness.models.compiled import MAC_COUNTS
from harness.sim.npu.payload import PayloadError, parse_payload

FOURCC_DIRECT_DRIVE = b"COP2"
FOURCC_MICROCONTROLLER = b"COP1"
METADATA_FOURCC = b"VEUM"
SEPARATE_IO_REGIONS = (
    2  #: the `features` word of a stream that addresses inputs and outputs by their own regions
)
ETHOS_U85 = 2  #: the product field of the CONFIG word

# Action list: fourCC, version, length of what follows (8 bytes). Action: type, length. Metadata: length,
# fourCC, version, length, then CONFIG, ID, features, size of the NPU SRAM (8 bytes).
_HEADER = struct.Struct("<4sIQ II I4sII IIIQ")
_ACTION_LIST_SIZE = 16  #: the length word counts from here
_DIRECT_DRIVE_HINT = (
    "compile the original .tflite here, or with Vela's --cop-format COP2 --separate-io-regions"
)


@dataclass(frozen=True)
class PayloadHeader:
    """CONFIG and ID as the hardware's registers of that name must read."""

    config: int
    npu_id: int

    @property
    def macs(self) -> int:
        """8-bit MACs per cycle."""
        return macs_of(self.config)


def read_payload_header(name: str, payload: bytes) -> PayloadHeader:
    """The header of `payload`; `name` is the model, for messages.

    Raises ModelError for a payload the Linux driver would not take: another format, no separate regions for
    inputs and outputs, or not for an Ethos-U85.
    """
    if payload[:4] == FOURCC_MICROCONTROLLER:
        raise ModelError(
            f"{name} was compiled to the COP1 format; direct drive takes COP2 only", hint=_DIRECT_DRIVE_HINT
        )
    if payload[:4] != FOURCC_DIRECT_DRIVE or len(payload) < _HEADER.size:
        raise ModelError(f"{name} has no Ethos-U payload: it starts with {payload[:4]!r}, not with COP2")
    _, _, length, _, _, _, metadata_fourcc, _, _, config, npu_id, features, _ = _HEADER.unpack_from(payload)
    if length + _ACTION_LIST_SIZE != len(payload):
        raise ModelError(
            f"{name} has a damaged payload: it is {len(payload)} bytes long, "
            f"and by its header {length + _ACTION_LIST_SIZE}"
        )
    if metadata_fourcc != METADATA_FOURCC:
        raise ModelError(f"{name} has a payload without metadata: {metadata_fourcc!r} instead of VEUM")
    if features != SEPARATE_IO_REGIONS:
        raise ModelError(
            f"{name} keeps its inputs and outputs in the scratch region; "
            "direct drive needs a region of its own for each",
            hint=_DIRECT_DRIVE_HINT,
        )
    _check_config(name, config)
    return PayloadHeader(config=config, npu_id=npu_id)


def payload_macs(name: str, payload: bytes) -> int:
    """The MAC count that a payload of either format is for. Raises ModelError when it is damaged."""
    try:
        config = parse_payload(payload).config_word
    except PayloadError as error:
        raise ModelError(f"{name} has no Ethos-U payload: {error}") from error
    _check_config(name, config)
    return macs_of(config)


def macs_of(config: int) -> int:
    """8-bit MACs per cycle by a CONFIG word: its lowest four bits are their logarithm."""
    return 1 << (config & 0xF)


def _check_config(name: str, config: int) -> None:
    if config >> 28 != ETHOS_U85 or macs_of(config) not in MAC_COUNTS:
        raise ModelError(f"{name} was not compiled for an Ethos-U85: its CONFIG word is {config:#010x}")
