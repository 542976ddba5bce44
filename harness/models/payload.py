"""What a driver payload says of the NPU it is for, and of how Vela was told to write it.

Layout: Vela 5.2, regor/tflite/custom_operator_ethosu.hpp.
"""

from __future__ import annotations

import struct

from harness.errors import ModelError
from harness.models.compiled import MAC_COUNTS
from harness.sim.npu import NpuConfig, parse_payload
from harness.sim.npu.checks import Extent, extents
from harness.sim.npu.payload import PayloadError
from harness.sim.npu.program import prepare

ETHOS_U85 = 2  #: the product field of the CONFIG word
_COP2 = b"COP2"
_FEATURES = 48  #: byte offset of COP2's word that says where inputs and outputs lie
_SEPARATE_IO = 2


def payload_macs(name: str, payload: bytes) -> int:
    """The MAC count that a payload of either format is for; `name` is the model, for messages.

    Raises ModelError when it is damaged, or not for an Ethos-U85.
    """
    try:
        config = parse_payload(payload).config_word
    except PayloadError as error:
        raise ModelError(f"{name} has no Ethos-U payload: {error}") from error
    if config >> 28 != ETHOS_U85 or macs_of(config) not in MAC_COUNTS:
        raise ModelError(f"{name} was not compiled for an Ethos-U85: its CONFIG word is {config:#010x}")
    return macs_of(config)


def macs_of(config: int) -> int:
    """8-bit MACs per cycle by a CONFIG word: its lowest four bits are their logarithm."""
    return 1 << (config & 0xF)


def payload_options(payload: bytes) -> tuple[str, ...]:
    """Options of Vela that a sound payload proves."""
    if payload[:4] != _COP2:
        return ("--cop-format=COP1",)
    (features,) = struct.unpack_from("<I", payload, _FEATURES)
    return ("--cop-format=COP2", *(("--separate-io-regions",) if features == _SEPARATE_IO else ()))


def used_regions(name: str, payload: bytes) -> tuple[Extent, ...]:
    """What the payload's command stream accesses of each region. Raises what `payload_macs` raises."""
    macs = payload_macs(name, payload)
    program = prepare(parse_payload(payload).stream, NpuConfig(macs))
    return tuple(extents(program, len(program.steps)))
