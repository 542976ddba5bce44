"""Which bytes an operation touches, before it runs: all follows from its registers.

Only the rows that an indexed transfer picks stand in memory; those touches are no more than possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.activation import Lut
from harness.sim.npu.constants import StoredConstants
from harness.sim.npu.convolution import Convolution
from harness.sim.npu.dma import End, Indexed, Transfer
from harness.sim.npu.elementwise import Arithmetic
from harness.sim.npu.faults import Channel
from harness.sim.npu.feature_map import Chained, InMemory, Operand
from harness.sim.npu.output import OutputStage
from harness.sim.npu.pooling import PassThrough, Pool
from harness.sim.npu.product import Product
from harness.sim.npu.program import Operation, Wait
from harness.sim.npu.resize import Resizing

ALIGNMENT = 16
"""Bytes that bricks, weights and scales are aligned to (Vela 5.2, ethos_u85_register_cs_generator.cpp,
GetTiles and GenerateWeights, and NPUTensorAlignment in regor/compiler/scheduler.cpp)."""

INDEX_BYTES = 4

Kernel = Convolution | Product | Pool | PassThrough | Arithmetic | Resizing
"""The operations of the MAC array and the output stage, as opposed to transfers."""

Copy = Transfer | Indexed

Value = TypeVar("Value", bound=np.generic)


@dataclass(frozen=True)
class Touch:
    """Bytes that one operation reads or writes: a box of them, with gaps in between."""

    channel: Channel
    writes: bool
    region: int | None  #: None for the table RAM
    offset: int  #: of the first byte, from the region's base pointer
    shape: tuple[int, ...]  #: bytes along the last axis
    strides: tuple[int, ...]
    alignment: int = 1
    certain: bool = (
        True  #: False where only some of the bytes are touched, and the registers do not say which
    )

    @property
    def size(self) -> int:
        """Bytes from the first to the last."""
        return 1 + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))

    @property
    def end(self) -> int:
        """Where the last byte ends."""
        return self.offset + self.size

    @property
    def is_dense(self) -> bool:
        """Whether there are no gaps."""
        return math.prod(self.shape) == self.size

    def view(self, notes: NDArray[Value], start: int = 0) -> NDArray[Value]:
        """Return the box out of an array that has one item for each byte from `start` on."""
        first = self.offset - start
        items = notes[first : first + self.size]
        strides = tuple(stride * notes.itemsize for stride in self.strides)
        return np.ndarray(self.shape, notes.dtype, items.data, strides=strides)


def common_bytes(one: Touch, other: Touch, apart: int = 0) -> tuple[int, int] | None:
    """Return the first offset that two touches share and how many bytes; None when they share none.

    `apart` is how far the base of `other` lies above that of `one`, whose offsets are returned.
    """
    moved = replace(other, offset=other.offset + apart)
    start, end = max(one.offset, moved.offset), min(one.end, moved.end)
    if start >= end:
        return None
    if one.is_dense and moved.is_dense:
        return start, end - start
    first, last = min(one.offset, moved.offset), max(one.end, moved.end)
    touched = np.zeros((2, last - first), np.bool_)
    one.view(touched[0], first)[...] = True
    moved.view(touched[1], first)[...] = True
    shared = np.flatnonzero(touched.all(axis=0))
    return (first + int(shared[0]), len(shared)) if len(shared) else None


def footprint(operation: Operation) -> tuple[Touch, ...]:
    """Return everything an operation touches, reads before writes.  A wait touches nothing."""
    match operation:
        case Wait():
            return ()
        case Transfer():
            return tuple(_transfer(operation))
        case Indexed():
            return tuple(_indexed(operation))
        case Convolution() | Product() | Pool() | PassThrough() | Arithmetic() | Resizing():
            return tuple(_kernel(operation))
    raise TypeError(f"no footprint is known for {type(operation).__name__}")


def operands(kernel: Kernel) -> tuple[Operand, ...]:
    """Return what an operation takes: IFM, IFM2 or both."""
    match kernel:
        case Product():
            return kernel.ifm, kernel.ifm2
        case PassThrough():
            return (kernel.ifm2,)
        case Arithmetic():
            return kernel.operands
        case Convolution(start=InMemory() | Chained() as start):
            return kernel.ifm, start
    return (kernel.ifm,)


def feature_map_touches(feature_map: InMemory, channel: Channel) -> Iterator[Touch]:
    """Yield the pieces of a feature map."""
    element = feature_map.dtype.itemsize
    for piece in feature_map.pieces:
        *outer, channels = piece.shape
        yield Touch(
            channel,
            channel is Channel.OFM,
            feature_map.region,
            piece.offset,
            (*outer, channels * element),
            (*piece.strides[:3], 1),
            ALIGNMENT if feature_map.brick else element,
        )


def _kernel(kernel: Kernel) -> Iterator[Touch]:
    for operand in operands(kernel):
        if isinstance(operand, InMemory):
            yield from feature_map_touches(operand, Channel.IFM)
    if isinstance(kernel, Convolution | Pool | PassThrough) and kernel.constants is not None:
        yield from _constants(kernel.constants)
    yield from _output(kernel.output)


def _constants(constants: StoredConstants[Any]) -> Iterator[Touch]:
    for span in constants.spans:
        if span.size:
            yield Touch(span.channel, False, span.region, span.offset, (span.size,), (1,), ALIGNMENT)


def _output(output: OutputStage) -> Iterator[Touch]:
    if output.lut is not None:
        yield _table(output.lut)
    if isinstance(output.ofm, InMemory):
        yield from feature_map_touches(output.ofm, Channel.OFM)


def _table(lut: Lut) -> Touch:
    return Touch(Channel.IFM, False, None, lut.start, (lut.kind.size,), (1,))


def _transfer(transfer: Transfer) -> Iterator[Touch]:
    yield _end(transfer.source, transfer.shape, Channel.DMA_READ)
    yield _end(transfer.destination, transfer.shape, Channel.DMA_WRITE)


def _indexed(indexed: Indexed) -> Iterator[Touch]:
    _, rows, length = indexed.transfer.shape
    listed = (INDEX_BYTES * rows,)
    yield Touch(Channel.DMA_READ, False, indexed.list_region, indexed.list_address, listed, (1,))
    in_order, by_list = (1, rows, length), (1, indexed.last_row + 1, length)
    source, destination = (in_order, by_list) if indexed.scatter else (by_list, in_order)
    read = _end(indexed.transfer.source, source, Channel.DMA_READ)
    write = _end(indexed.transfer.destination, destination, Channel.DMA_WRITE)
    yield replace(read, certain=indexed.scatter)
    yield replace(write, certain=not indexed.scatter)


def _end(end: End, shape: tuple[int, int, int], channel: Channel) -> Touch:
    region = None if end.internal else end.region
    writes = channel is Channel.DMA_WRITE
    return Touch(channel, writes, region, end.address, shape, (*end.strides, 1))
