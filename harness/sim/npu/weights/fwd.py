"""The fast weight format (FWD): a 256-bit header and weights of 2, 4 or 8 bits each.

There is no public decoder; the layout is read off the encoder (Vela 5.2,
regor/dependencies/mlw_codec/source/mlw_encode_fwd.cpp).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.weights.layout import WeightError

ALIGNMENT = 32  # bytes: header and weights are both padded to 256 bits
RESERVED_BITS = 102
ZERO_ADJUST_BITS = 8
TABLE_ENTRIES = 16
ENTRY_BITS = 9


def decode_fwd(data: bytes, count: int) -> NDArray[np.int16]:
    """Decode a stream that must hold exactly *count* weights; WeightError says why it does not."""
    if len(data) < ALIGNMENT:
        raise WeightError(f"fast weight stream of {len(data)} bytes has no header")
    header = int.from_bytes(data[:ALIGNMENT], "little")
    raw, small = bool(header & 1), bool(header & 2)
    if raw and small:
        raise WeightError("fast weight stream asks for raw weights and a small table at once")
    if header >> 2 & ((1 << RESERVED_BITS) - 1):
        raise WeightError("fast weight stream sets reserved header bits")
    width = 8 if raw else 2 if small else 4
    codes = _codes(np.frombuffer(data, np.uint8, offset=ALIGNMENT), width, count)
    if raw:
        adjust = header >> (2 + RESERVED_BITS) & ((1 << ZERO_ADJUST_BITS) - 1)
        return codes.view(np.int8).astype(np.int16) - np.uint8(adjust).view(np.int8)
    return _table(header >> (2 + RESERVED_BITS + ZERO_ADJUST_BITS))[codes]


def _codes(body: NDArray[np.uint8], width: int, count: int) -> NDArray[np.uint8]:
    needed = -(-count * width // (8 * ALIGNMENT)) * ALIGNMENT
    if len(body) != needed:
        raise WeightError(f"fast weight stream has {len(body)} bytes for {count} weights, not {needed}")
    per_byte = np.arange(0, 8, width, dtype=np.uint8)
    codes = (body[:, None] >> per_byte & np.uint8((1 << width) - 1)).ravel()
    if codes[count:].any():
        raise WeightError("fast weight stream is padded with something else than zeros")
    return codes[:count]


def _table(bits: int) -> NDArray[np.int16]:
    """The weight for each code; the sign is an entry's lowest bit."""
    folded = [bits >> (ENTRY_BITS * entry) & ((1 << ENTRY_BITS) - 1) for entry in range(TABLE_ENTRIES)]
    return np.array([-(value >> 1) if value & 1 else value >> 1 for value in folded], np.int16)
