"""From the weight streams of one operation to its weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.weights.layout import WeightLayout


def decode_weights(layout: WeightLayout, streams: Sequence[bytes | NDArray[np.uint8]]) -> NDArray[np.int16]:
    """Return the weights as int16 of shape [ofm_depth, kernel_height, kernel_width, ifm_depth].

    A depthwise operation's weights have an IFM depth of 1.  *streams* holds the bytes of WEIGHT_BASE/LENGTH,
    then WEIGHT1..3 as far as their lengths are not zero: as many as the configuration has cores, but one for
    the fast format.  Values are 9 bit signed, the weight's zero point already taken off.

    Raises WeightError where a stream's code is invalid, its length is not exactly what the layout asks for,
    or a position that is only padding holds anything but zero.
    """
    raise NotImplementedError
