"""The order in which the MAC array consumes weights, and so the order in which a stream holds them.

Nested from the outside in: OFM block, IFM block (forwards and backwards in turn), sub-kernel, IFM microblock,
OFM microblock, stride phase, kernel element, IFM step, group of four OFM channels, OFM channel, IFM channel
(Vela 5.2, regor/architecture/ethosu85/ethos_u85_weight_encoder.cpp).  The groups of four are dealt out to the
cores in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.weights.layout import Traversal, WeightError, WeightLayout

Weight = TypeVar("Weight", bound=np.integer[Any])

OFM_GROUP = 4
SUB_KERNEL = 8
PADDING = -1
CORES = {128: 1, 256: 1, 512: 2, 1024: 4, 2048: 4}


def ifm_block_depth(macs: int, ofm_ublock: int, ifm_bits: int, part_kernel: bool, sparse: bool) -> int:
    """IFM channels that a convolution takes into an IFM block (Vela 5.2, .../ethosu85/ethos_u85.cpp)."""
    if part_kernel:
        return 16
    if ifm_bits == 32 or (macs <= 256 and ofm_ublock == 16 and not sparse):
        return 32
    return 128 if sparse and ifm_bits == 8 else 64


@dataclass(frozen=True)
class WeightOrder:
    """The walk through one operation's weights; sizes that no register holds are derived here."""

    layout: WeightLayout

    def __post_init__(self) -> None:
        block, depth = self.layout.ofm_block_depth, self.ofm_ublock
        if depth == 0 or depth % (OFM_GROUP * self.cores) or block % depth:
            raise WeightError(f"OFM block of {block} channels does not fit microblocks of {depth}")

    @cached_property
    def cores(self) -> int:
        """MAC units with a weight decoder each."""
        return CORES[self.layout.macs]

    @cached_property
    def depthwise(self) -> bool:
        """Whether each OFM channel has a kernel of its own."""
        return self.layout.traversal is Traversal.DEPTHWISE

    @cached_property
    def ifm_depth(self) -> int:
        """IFM channels that an OFM channel has weights for."""
        return 1 if self.depthwise else self.layout.ifm_depth

    @cached_property
    def ofm_ublock(self) -> int:
        """OFM channels of an OFM microblock."""
        height, width = self.layout.microblock
        return self.layout.macs // (8 * height * width)

    @cached_property
    def ifm_block(self) -> int:
        """IFM channels of an IFM block."""
        if self.depthwise:
            return 1
        part_kernel = self.layout.traversal is Traversal.PART_KERNEL
        return ifm_block_depth(
            self.layout.macs, self.ofm_ublock, self.layout.ifm_bits, part_kernel, self.layout.sparse
        )

    @cached_property
    def ifm_ublock(self) -> int:
        """IFM channels of an IFM microblock."""
        layout = self.layout
        halved = layout.traversal is Traversal.PART_KERNEL and layout.ifm_bits == 16 and not layout.sparse
        return 8 if halved else self.ifm_block

    @cached_property
    def ifm_step(self) -> int:
        """IFM channels that are consumed at a time."""
        return 1 if self.depthwise else 16 if self.layout.sparse else 8

    @cached_property
    def kernel_round(self) -> int:
        """The elements of a sub-kernel are filled up to a multiple of this."""
        if self.layout.traversal is Traversal.PART_KERNEL:
            return 10 if self.layout.ifm_bits == 16 or self.layout.sparse else 5
        return 10 if self.depthwise else 1

    @cached_property
    def kernel_pad(self) -> int:
        """Empty elements that follow each such multiple."""
        if not self.depthwise or (self.layout.macs <= 256 and self.layout.ifm_bits == 8):
            return 0
        return 2 if self.layout.macs <= 512 else 6

    @cached_property
    def walks(self) -> list[NDArray[np.int64]]:
        """Per sub-kernel its elements, as y * kernel_width + x or PADDING, in shape [group, element]."""
        layout = self.layout
        return [
            self._walk(x, y)
            for x in range(0, layout.kernel_width, SUB_KERNEL // layout.dilation_x)
            for y in range(0, layout.kernel_height, SUB_KERNEL // layout.dilation_y)
        ]

    def _walk(self, left: int, top: int) -> NDArray[np.int64]:
        layout = self.layout
        width = min(SUB_KERNEL // layout.dilation_x, layout.kernel_width - left)
        height = min(SUB_KERNEL // layout.dilation_y, layout.kernel_height - top)
        phased = layout.traversal is not Traversal.DEPTH_FIRST
        step_y, step_x = (layout.stride_y, layout.stride_x) if phased else (1, 1)
        elements = [
            (top + y) * layout.kernel_width + left + x
            for phase_y in range(step_y)
            for phase_x in range(step_x)
            for row, y in enumerate(range(phase_y, height, step_y))
            for x in list(range(phase_x, width, step_x))[:: -1 if row % 2 else 1]
        ]
        groups = -(-len(elements) // self.kernel_round)
        walk = np.full((groups, self.kernel_round + self.kernel_pad), PADDING, np.int64)
        walk[:, : self.kernel_round].flat[: len(elements)] = elements
        return walk

    @property
    def length(self) -> int:
        """Weights of all streams together, padding included; computed without walking through them."""
        layout = self.layout
        elements = sum(
            columns * rows * -(-height * width // self.kernel_round) * (self.kernel_round + self.kernel_pad)
            for width, columns in pieces(layout.kernel_width, SUB_KERNEL // layout.dilation_x)
            for height, rows in pieces(layout.kernel_height, SUB_KERNEL // layout.dilation_y)
        )
        return elements * self._padded_ofm_depth * self._padded_ifm_depth

    @cached_property
    def _padded_ofm_depth(self) -> int:
        return -(-self.layout.ofm_depth // self.ofm_ublock) * self.ofm_ublock

    @cached_property
    def _padded_ifm_depth(self) -> int:
        return -(-self.ifm_depth // self.ifm_ublock) * self.ifm_ublock

    def restore(self, streams: NDArray[Weight]) -> NDArray[Weight]:
        """Return the weights of *streams*, [stream, weight], as [ofm_depth, kernel elements, ifm_depth].

        There is one stream for each core, or a single one in the fast format.  What is only padding is left
        out.
        """
        elements = np.concatenate([walk.ravel() for walk in self.walks])
        padded = np.empty((self._padded_ofm_depth, len(elements), self._padded_ifm_depth), streams.dtype)
        at = 0
        for ofm, ifm in self._blocks():
            first = 0
            for walk in self.walks:
                brick = padded[ofm, first : first + walk.size, ifm]
                weights = brick.size // len(streams)
                self._fill(brick, streams[:, at : at + weights], walk.shape)
                at += weights
                first += walk.size
        found = np.flatnonzero(elements != PADDING)
        return padded[: self.layout.ofm_depth, found[np.argsort(elements[found])], : self.ifm_depth]

    def _blocks(self) -> Iterator[tuple[slice, slice]]:
        """The OFM and IFM channels of each pair of blocks."""
        ifm_blocks = _split(self._padded_ifm_depth, self.ifm_block)
        for turn, ofm in enumerate(_split(self._padded_ofm_depth, self.layout.ofm_block_depth)):
            for ifm in ifm_blocks[:: -1 if turn % 2 else 1]:
                yield ofm, ifm

    def _fill(self, brick: NDArray[Weight], streams: NDArray[Weight], walk: tuple[int, ...]) -> None:
        """Fill [OFM channel, kernel element, IFM channel] of a pair of blocks and one sub-kernel."""
        groups = self.ofm_ublock // (OFM_GROUP * self.cores)
        side_by_side, in_turn = len(streams), self.cores // len(streams)  # cores: one of these is 1
        ofm_ublocks = brick.shape[0] // self.ofm_ublock
        ifm = brick.shape[2] // self.ifm_ublock, self.ifm_ublock // self.ifm_step, self.ifm_step
        in_order = streams.reshape(
            (side_by_side, ifm[0], ofm_ublocks, walk[0], in_turn, walk[1], ifm[1], groups, OFM_GROUP, ifm[2])
        )
        # Axes that are only split stay where they are in memory, so this is the brick itself.
        target = brick.reshape(ofm_ublocks, groups, side_by_side, in_turn, OFM_GROUP, *walk, *ifm)
        target[...] = in_order.transpose(2, 7, 0, 4, 8, 3, 5, 1, 6, 9)


def pieces(size: int, step: int) -> list[tuple[int, int]]:
    """The lengths that a side is cut into, with how many there are of each."""
    return [(length, count) for length, count in ((step, size // step), (size % step, 1)) if length * count]


def _split(depth: int, block: int) -> list[slice]:
    return [slice(start, min(start + block, depth)) for start in range(0, depth, block)]
