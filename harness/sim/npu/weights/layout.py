"""The facts from which the hardware derives the order of a weight stream."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class WeightError(ValueError):
    """A weight or scale stream that the hardware could not have been given; the message says why."""


class Traversal(Enum):
    """The three orders in which the MAC array walks through a kernel."""

    DEPTH_FIRST = "depth-first"
    PART_KERNEL = "part-kernel"
    DEPTHWISE = "depthwise"


@dataclass(frozen=True)
class WeightLayout:
    """One operation's weights as the registers describe them.

    Kernel sizes count elements, without dilation: KERNEL_HEIGHT_M1 + 1 is ``(kernel_height - 1) * dilation_y
    + 1``.  Sub-kernels are those of the 8x8 kernel decomposition; the 4x4 setting of KERNEL_STRIDE, which no
    public compiler emits, has to be refused by the caller.
    """

    macs: int
    """MACs per cycle: 128, 256, 512, 1024 or 2048."""
    fast: bool
    """WEIGHT_FORMAT.format is FWD (fast weight decode), not SWD."""
    sparse: bool
    """WEIGHT_FORMAT.sparsity is 2:4."""
    traversal: Traversal
    """DEPTHWISE for a depthwise operation, otherwise KERNEL_STRIDE.weight_order."""
    ofm_depth: int
    """OFM channels that this operation computes (OFM_DEPTH_M1 + 1)."""
    ifm_depth: int
    """IFM channels (IFM_DEPTH_M1 + 1); a depthwise operation reads one for each of its OFM channels."""
    kernel_height: int
    kernel_width: int
    stride_y: int
    stride_x: int
    dilation_y: int
    dilation_x: int
    ofm_block_depth: int
    """OFM_BLK_DEPTH_M1 + 1."""
    microblock: tuple[int, int]
    """Height and width of the OFM microblock (ACC_FORMAT.microblock); its depth follows from the MACs."""
    ifm_bits: int
    """8, 16 or 32."""
