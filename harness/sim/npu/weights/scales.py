"""The per-channel bias, scale and shift of a convolution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.weights.layout import WeightError

ENTRY_BYTES = 10


@dataclass(frozen=True)
class ScaleTable:
    """One entry per OFM channel, in channel order; all int64."""

    bias: NDArray[np.int64]
    scale: NDArray[np.int64]
    shift: NDArray[np.int64]


def decode_scales(data: bytes | NDArray[np.uint8], channels: int, acc48: bool) -> ScaleTable:
    """Decode the first *channels* entries of SCALE_BASE/LENGTH, 10 bytes each.

    With 32-bit accumulators an entry is bias s32, scale u31, shift u6; with 48-bit ones bias s48, scale u15,
    shift u6 (Vela 5.2, regor/architecture/ethosu85/ethos_u85_weight_encoder.cpp).

    Raises WeightError where the data is too short or a reserved bit is set.
    """
    content = np.frombuffer(bytes(data), np.uint8)
    if len(content) < channels * ENTRY_BYTES:
        raise WeightError(f"scale stream of {len(content)} bytes is too short for {channels} channels")
    entries = content[: channels * ENTRY_BYTES].reshape(channels, ENTRY_BYTES).astype(np.int64)
    bias_bytes = 6 if acc48 else 4
    bias_bits = 8 * bias_bytes
    bias = _little_endian(entries[:, :bias_bytes])
    scale = _little_endian(entries[:, bias_bytes:8])
    shift = entries[:, 8]
    if (scale >> (63 - bias_bits)).any() or (shift >> 6).any() or entries[:, 9].any():
        raise WeightError("scale stream sets reserved bits")
    return ScaleTable(bias - ((bias >> (bias_bits - 1)) << bias_bits), scale, shift)


def _little_endian(digits: NDArray[np.int64]) -> NDArray[np.int64]:
    weights: NDArray[np.int64] = np.int64(1) << 8 * np.arange(digits.shape[1])
    return digits @ weights
