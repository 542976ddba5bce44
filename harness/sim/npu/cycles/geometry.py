"""How an operation is cut into blocks and microblocks.

Sizes are (height, width, depth).  The IFM block is not in the command stream; it follows from the OFM block
and the kernel (Vela 5.2, regor/architecture/ethosu85/ethos_u85.cpp, GetArchIFMBlockSize).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from harness.sim.npu.cycles.work import FeatureMap, KernelWork, Memory, Unit
from harness.sim.npu.weights.order import SUB_KERNEL, ifm_block_depth, pieces

Size = tuple[int, int, int]

BRICK = 16  #: channels that NHCWB16 keeps together

Granules = tuple[Size, Size, Size]

IFM_GRANULES: dict[int, tuple[Granules, Granules]] = {
    128: (((1, 2, 16), (1, 1, 32), (1, 1, 32)), ((1, 2, 16), (1, 1, 32), (1, 1, 32))),
    256: (((2, 2, 16), (1, 2, 32), (1, 1, 64)), ((1, 4, 16), (1, 2, 32), (1, 1, 64))),
    512: (((2, 2, 16), (1, 2, 32), (1, 1, 64)), ((1, 4, 16), (1, 2, 32), (1, 1, 64))),
    1024: (((2, 4, 16), (2, 2, 32), (1, 2, 64)), ((2, 4, 16), (1, 4, 32), (1, 2, 64))),
    2048: (((4, 4, 16), (2, 4, 32), (2, 2, 64)), ((4, 4, 16), (2, 4, 32), (1, 4, 64))),
}
"""What an IFM block is rounded up to in height, width and bytes of depth: for IFM blocks of up to 16 bytes of
depth, of up to 32, and deeper ones; first for most microblocks, then for those of 1x4."""


@dataclass(frozen=True)
class Geometry:
    """One operation on the configuration with *macs* MACs."""

    work: KernelWork
    macs: int

    @cached_property
    def microblock(self) -> Size:
        """An OFM microblock."""
        height, width = self.work.microblock
        return height, width, self.macs // (8 * height * width)

    @cached_property
    def ofm_block(self) -> Size:
        """The OFM block, no larger than the OFM."""
        return smaller(self.work.ofm_block, size(self.work.ofm))

    @cached_property
    def microblocks(self) -> Size:
        """Microblocks along each side of an OFM block."""
        return divide(self.ofm_block, self.microblock)

    @cached_property
    def blocks(self) -> float:
        """OFM blocks in the OFM, the partial ones counted by their microblocks."""
        return prod(divide(size(self.work.ofm), self.microblock)) / prod(self.microblocks)

    @cached_property
    def sub_kernels(self) -> list[tuple[int, int]]:
        """The numbers of elements that sub-kernels have, with how many have each."""
        heights, widths = (
            pieces(kernel, SUB_KERNEL // dilation)
            for kernel, dilation in zip(self.work.kernel, self.work.dilation, strict=True)
        )
        return [(height * width, rows * columns) for height, rows in heights for width, columns in widths]

    @cached_property
    def ifm_block(self) -> Size:
        """What an OFM block needs of the IFM at a time."""
        work = self.work
        if work.unit in (Unit.ELEMENTWISE, Unit.RESIZE):
            return work.ofm_block
        size_in_bytes = self._ifm_block_depth * work.ifm_bits // 8
        tier = (size_in_bytes > 16) + (size_in_bytes > 32)
        granule = IFM_GRANULES[self.macs][work.microblock == (1, 4)][tier]
        height, width = (
            (block - 1) * stride + min((kernel - 1) * dilation + 1, SUB_KERNEL)
            for block, stride, kernel, dilation in zip(
                work.ofm_block[:2], work.stride, work.kernel, work.dilation, strict=True
            )
        )
        height, width, size_in_bytes = round_up((height, width, size_in_bytes), granule)
        return height, width, size_in_bytes * 8 // work.ifm_bits

    @cached_property
    def _ifm_block_depth(self) -> int:
        work = self.work
        if work.unit in (Unit.DEPTHWISE, Unit.POOL):
            return work.ofm_block[2]
        sparse = work.weights is not None and work.weights.sparse
        return ifm_block_depth(self.macs, self.microblock[2], work.ifm_bits, work.part_kernel, sparse)


def size(feature_map: FeatureMap) -> Size:
    """The extent of a feature map."""
    return feature_map.height, feature_map.width, feature_map.depth


def stored(feature_map: FeatureMap) -> Size:
    """The extent of a feature map where it is kept; NHCWB16 and chaining buffers hold whole bricks."""
    whole_bricks = feature_map.brick or feature_map.memory is Memory.CHAINED
    return round_up(size(feature_map), (1, 1, BRICK if whole_bricks else 1))


def smaller(left: Size, right: Size) -> Size:
    """The smaller extent along each axis."""
    return min(left[0], right[0]), min(left[1], right[1]), min(left[2], right[2])


def divide(whole: Size, part: Size) -> Size:
    """How many parts cover the whole along each axis."""
    return -(-whole[0] // part[0]), -(-whole[1] // part[1]), -(-whole[2] // part[2])


def round_up(whole: Size, part: Size) -> Size:
    """The extent of as many parts as cover the whole."""
    rows, columns, layers = divide(whole, part)
    return rows * part[0], columns * part[1], layers * part[2]
