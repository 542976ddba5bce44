"""The header of a direct-drive payload: what the compiler says of the NPU the stream is for.

Layout: Vela 5.2, regor/tflite/custom_operator_ethosu.hpp.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from harness.errors import ModelError
from harness.models.compiled import MAC_COUNTS

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
        """8-bit MACs per cycle: CONFIG[3:0] is their logarithm."""
        return 1 << (self.config & 0xF)


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
    header = PayloadHeader(config=config, npu_id=npu_id)
    if config >> 28 != ETHOS_U85 or header.macs not in MAC_COUNTS:
        raise ModelError(f"{name} was not compiled for an Ethos-U85: its CONFIG word is {config:#010x}")
    return header
