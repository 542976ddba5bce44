"""The per-channel bias, scale and shift table of a convolution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
    raise NotImplementedError
