"""BLOCKDEP: how many blocks an operation may run ahead into the end of the operation before it.

A kernel is done in jobs of one block each.  With BLOCKDEP b, job i of an operation may run beside the last
jobs of its predecessor up to the (b - i)th from the end, so the highest safe b is the smallest i + j of any
job i that reads what job j from the end writes (Vela 5.2,
regor/architecture/ethosu85/ethos_u85_register_cs_generator.cpp, CalcBlockDep, GetJobs and CheckOverlap).

For some pairs the compiler takes 0 without a computation: results that are transposed or reversed, operands
that are broadcast or upscaled, and operations that it has no job sizes for.  A higher value there is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import cycles
from harness.sim.npu.checks.finding import Check, CheckFinding
from harness.sim.npu.checks.footprint import Kernel, Touch, common_bytes, feature_map_touches, operands
from harness.sim.npu.checks.visit import Visit
from harness.sim.npu.convolution import Convolution
from harness.sim.npu.cycles.geometry import Geometry
from harness.sim.npu.elementwise import Arithmetic
from harness.sim.npu.faults import Channel
from harness.sim.npu.feature_map import InMemory, Operand, Shape
from harness.sim.npu.machine import REGIONS
from harness.sim.npu.opcodes import Upscale
from harness.sim.npu.pooling import Pool

MAX_BLOCKDEP = 7  #: Vela 5.2, regor/architecture/ethosu85/ethos_u85.hpp

Chain = Sequence[tuple[Visit, Kernel]]
"""The operations of one kernel: the last one's result goes to memory."""

_Box = tuple[slice, slice, slice]
_IN_ORDER = (0, 1, 2)
_ANYWHERE = (cycles.Memory.SRAM,) * REGIONS  # the sizes of blocks do not depend on it


@dataclass(frozen=True)
class _Dependence:
    """How an operation depends on the one before it through one operand."""

    limit: int  #: the highest BLOCKDEP that is known to be safe
    certain: bool  #: whether a higher one is known not to be
    where: tuple[int, int]  #: the first byte of the operand that is concerned, and how many there are


def block_dependency(previous: Chain, current: Chain, macs: int) -> Iterator[CheckFinding]:
    """Yield a finding when BLOCKDEP lets `current` read what `previous` has not written yet."""
    first, _ = current[0]
    allowed = first.step.block_dependency
    if not allowed:
        return
    for visit, kernel in current:
        for operand in operands(kernel):
            if not isinstance(operand, InMemory):
                continue
            dependence = _dependence(previous[-1], (visit, kernel), operand, macs)
            if dependence is not None and allowed > dependence.limit:
                writer = previous[-1][0].step.command
                detail = (
                    f"BLOCKDEP is {allowed} and at most {dependence.limit} keeps the last blocks of "
                    f"{writer.name} at {writer.offset:#x} in front"
                )
                touch = next(feature_map_touches(operand, Channel.IFM))
                yield visit.finding(
                    Check.BLOCK_DEPENDENCY, touch, dependence.where, detail, certain=dependence.certain
                )
                return


def _dependence(
    writer: tuple[Visit, Kernel], reader: tuple[Visit, Kernel], operand: InMemory, macs: int
) -> _Dependence | None:
    """Return what an operand has to do with the result of the operation before; None where nothing."""
    ofm = writer[1].output.ofm
    if not isinstance(ofm, InMemory):  # a chain that a wait cuts off
        return None
    where = _common(writer[0].pieces(ofm, Channel.OFM), reader[0].pieces(operand, Channel.IFM), reader[0])
    if where is None:
        return None
    jobs = _read_jobs(reader[1], operand, macs)
    if jobs is None or not _is_plain(writer[1]):
        return _Dependence(0, False, where)
    written = list(islice(_jobs(ofm.shape, writer[1].blocks.ofm, last_first=True), MAX_BLOCKDEP))
    read = list(islice(_jobs(operand.shape, jobs), MAX_BLOCKDEP))
    distance = writer[0].regions[operand.region].base - writer[0].regions[ofm.region].base
    ages = _ages(ofm, written, operand, distance)
    clash = min(index + int(ages[box].min()) for index, box in enumerate(read))
    # Beyond the jobs that either has, more of them may be concerned than were looked at.
    counted = min(len(written), len(read))
    return _Dependence(min(clash, counted), clash <= counted, where)


def _is_plain(kernel: Kernel) -> bool:
    return kernel.output.transpose == _IN_ORDER and kernel.output.reverse is None


def _common(written: Sequence[Touch], read: Sequence[Touch], visit: Visit) -> tuple[int, int] | None:
    """Return where what is read first meets what was written: its offset, and how many bytes."""
    for one, other in product(read, written):
        apart = visit.distance(one, other)
        where = None if apart is None else common_bytes(one, other, apart)
        if where is not None:
            return where
    return None


def _read_jobs(kernel: Kernel, operand: Operand, macs: int) -> Shape | None:
    """Return the size of a job's share of an operand; None where the compiler has no rule for it."""
    height, width, depth = kernel.blocks.ofm
    if isinstance(kernel, Arithmetic):
        return (height, width, depth) if operand.shape == kernel.output.shape else None
    if not isinstance(kernel, Convolution | Pool) or kernel.window.upscale is not Upscale.NONE:
        return None
    window = kernel.window
    rows, columns = (
        (block - 1) * stride + (size - 1) * dilation + 1
        for block, stride, size, dilation in zip(
            (height, width), window.stride, window.kernel, window.dilation, strict=True
        )
    )
    return rows, columns, Geometry(kernel.work(_ANYWHERE), macs).ifm_block[2]


def _jobs(whole: Shape, part: Shape, *, last_first: bool = False) -> Iterator[_Box]:
    """Yield the boxes that a feature map is cut into, depth changing first, then width, then height."""
    counts = tuple(-(-n // size) for n, size in zip(whole, part, strict=True))
    total = counts[0] * counts[1] * counts[2]
    for index in reversed(range(total)) if last_first else range(total):
        position = np.unravel_index(index, counts)
        first = [int(place) * size for place, size in zip(position, part, strict=True)]
        rows, columns, channels = (
            slice(start, start + size) for start, size in zip(first, part, strict=True)
        )
        yield rows, columns, channels


def _ages(ofm: InMemory, written: Sequence[_Box], operand: InMemory, distance: int) -> NDArray[np.int8]:
    """Return for each element of the operand how many jobs from the end it is written; many if it is not.

    `distance` is how far the operand's base lies above the result's.
    """
    never = 2 * MAX_BLOCKDEP
    by_element = np.full(ofm.shape, never, np.int8)
    for age, box in enumerate(written):
        by_element[box] = age
    moved = [replace(piece, offset=piece.offset + distance) for piece in operand.pieces]
    start = min(piece.offset for piece in (*ofm.pieces, *moved))
    end = max(piece.offset + piece.size for piece in (*ofm.pieces, *moved))
    by_byte = np.full(end - start, never, np.int8)
    for piece in ofm.pieces:
        _bytes(by_byte, piece.offset - start, piece.shape, piece.strides, ofm)[...] = by_element[
            piece.box
        ].reshape(*piece.shape, 1)
    ages = np.empty(operand.shape, np.int8)
    for piece in moved:
        view = _bytes(by_byte, piece.offset - start, piece.shape, piece.strides, operand)
        ages[piece.box].reshape(piece.shape)[...] = view.min(axis=-1)
    return ages


def _bytes(
    by_byte: NDArray[np.int8], first: int, shape: tuple[int, ...], strides: tuple[int, ...], like: InMemory
) -> NDArray[np.int8]:
    """Return the notes on a piece's bytes, those of an element along the last axis."""
    element = like.dtype.itemsize
    memory: Any = by_byte[first:].data
    return np.ndarray((*shape, element), np.int8, memory, strides=(*strides, 1))
