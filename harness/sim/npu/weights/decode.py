"""From the weight streams of one operation to its weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.weights.fwd import decode_fwd
from harness.sim.npu.weights.layout import WeightError, WeightLayout
from harness.sim.npu.weights.order import WeightOrder
from harness.sim.npu.weights.swd import decode_swd


def decode_weights(layout: WeightLayout, streams: Sequence[bytes | NDArray[np.uint8]]) -> NDArray[np.int16]:
    """Return the weights as int16 of shape [ofm_depth, kernel_height, kernel_width, ifm_depth].

    A depthwise operation's weights have an IFM depth of 1.  *streams* holds the bytes of WEIGHT_BASE/LENGTH
    and of WEIGHT1 to WEIGHT3: as many streams as the configuration has cores, but one for the fast format.
    Values lie between -255 and 255, the weight's zero point already taken off.

    Raises WeightError where a stream's code is invalid, its length is not exactly what the layout asks for,
    or a position that is only padding holds anything but zero.
    """
    order = WeightOrder(layout)
    expected = 1 if layout.fast else order.cores
    if len(streams) != expected:
        raise WeightError(f"{len(streams)} weight streams for an operation that reads {expected}")
    decode = decode_fwd if layout.fast else decode_swd
    # Decoding first: it bounds the length, which nonsense in the registers would not.
    decoded = np.stack([decode(bytes(stream), order.length // expected) for stream in streams])
    weights = order.restore(decoded)
    if np.count_nonzero(weights) != np.count_nonzero(decoded):
        raise WeightError("weight stream holds weights where there can only be padding")
    shaped = weights.reshape(layout.ofm_depth, layout.kernel_height, layout.kernel_width, order.ifm_depth)
    if layout.sparse:
        _check_sparsity(shaped)
    return shaped


def _check_sparsity(weights: NDArray[np.int16]) -> None:
    """At most two of four neighbouring IFM channels have a weight in the 2:4 format."""
    used = np.zeros((*weights.shape[:3], -(-weights.shape[3] // 4) * 4), np.bool_)
    used[..., : weights.shape[3]] = weights != 0
    if (used.reshape(*weights.shape[:3], -1, 4).sum(axis=-1) > 2).any():
        raise WeightError("sparse weight stream holds more than two weights in a group of four")
