"""Feature maps: where an operation's input or output lies, and how its elements are found there.

A feature map is an array of (height, width, depth).  With byte strides S and element size e, element
(y, x, c) of a tile lies at base + y*Sy + x*Sx + c*e in NHWC, in NHCWB16 at base + y*Sy + (c//16)*Sc + x*16*e
+ (c%16)*e.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import Format, Precision, Storage
from harness.sim.npu.registers import Registers

Shape = tuple[int, int, int]
ElementType = np.dtype[np.integer[Any]]
Elements = NDArray[np.integer[Any]]
Number = TypeVar("Number", bound=np.number[Any])

BRICK = 16  #: channels that lie side by side in NHCWB16

MAX_ELEMENTS = 1 << 24
"""Largest feature map that is computed: enough for eight channels of 1920 x 1080.

It keeps a corrupted stream from asking for terabytes.
"""

_ELEMENT_TYPES: dict[tuple[bool, Precision], ElementType] = {
    (False, Precision.B8): np.dtype(np.uint8),
    (False, Precision.B16): np.dtype("<u2"),
    (True, Precision.B8): np.dtype(np.int8),
    (True, Precision.B16): np.dtype("<i2"),
    (True, Precision.B32): np.dtype("<i4"),
    (True, Precision.B64): np.dtype("<i8"),
}


@dataclass(frozen=True, eq=False)
class Piece:
    """A box of elements with one base address and constant strides.

    Its channels are taken in groups that lie apart from each other, so it has four axes.
    """

    box: tuple[slice, slice, slice]
    shape: tuple[int, int, int, int]  #: height, width, groups, channels of a group
    offset: int  #: bytes from the region's base pointer to the first element
    strides: tuple[int, int, int, int]  #: bytes
    size: int  #: bytes from the first element's start to the last one's end


@dataclass(frozen=True)
class InMemory:
    """A feature map in one of the memory regions."""

    shape: Shape
    dtype: ElementType
    region: int
    brick: bool
    pieces: tuple[Piece, ...]
    # Of each piece its memory and its elements when they were last used: mostly they are where they were.
    _last: dict[Piece, tuple[NDArray[np.uint8], Elements]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def read(self, machine: Machine, channel: Channel, dtype: type[Number]) -> NDArray[Number]:
        """Return a copy of the elements as `dtype`."""
        if len(self.pieces) == 1:
            return self._view(machine, self.pieces[0], channel).astype(dtype).reshape(self.shape)
        values = np.empty(self.shape, dtype)
        for piece in self.pieces:
            values[piece.box].reshape(piece.shape)[...] = self._view(machine, piece, channel)
        return values

    def write(self, machine: Machine, values: Elements) -> None:
        """Store `values`; of those that do not fit the element type, the lower bits."""
        for piece in self.pieces:
            part = values if len(self.pieces) == 1 else values[piece.box]
            self._view(machine, piece, Channel.OFM)[...] = part.reshape(piece.shape)

    def _view(self, machine: Machine, piece: Piece, channel: Channel) -> Elements:
        memory = machine.view(self.region, piece.offset, piece.size, channel)
        last = self._last.get(piece)
        if last is None or last[0] is not memory:
            elements = np.ndarray(piece.shape, self.dtype, memory.data, strides=piece.strides)
            last = self._last[piece] = memory, elements
        return last[1]


@dataclass(frozen=True)
class Chained:
    """A feature map in a chaining buffer, written by an operation shortly before it is read."""

    shape: Shape
    dtype: ElementType
    buffer: int

    def read(self, machine: Machine, _: Channel, dtype: type[Number]) -> NDArray[Number]:
        """Return a copy of the elements as `dtype`."""
        return machine.chained(self.buffer, self.shape, self.dtype).astype(dtype)

    def write(self, machine: Machine, values: Elements) -> None:
        """Keep `values` for the operation that follows, as `InMemory.write` would."""
        machine.chain(self.buffer, values.astype(self.dtype))


@dataclass(frozen=True)
class Scalar:
    """An operand that stands in OP_SCALAR."""

    value: int
    dtype: ElementType
    shape: Shape = (1, 1, 1)

    def read(self, _machine: Machine, _: Channel, dtype: type[Number]) -> NDArray[Number]:
        """Return the one element as `dtype`."""
        return np.full(self.shape, self.value, dtype)


Operand = InMemory | Chained | Scalar


def element_type(registers: Registers, name: str) -> ElementType:
    """Return the element type that IFM_PRECISION, IFM2_PRECISION or OFM_PRECISION describes."""
    signed = bool(registers.value(f"{name}_PRECISION", "signed"))
    precision = registers.enum(Precision, f"{name}_PRECISION", "precision")
    element = _ELEMENT_TYPES.get((signed, precision))
    if element is None or (name == "IFM" and precision is Precision.B64):
        raise CommandError(f"{name} elements of {8 << precision} bits, signed {signed}, are not modelled")
    return element


def zero_point(registers: Registers, name: str) -> int:
    """Return a zero point, which is signed when the elements are."""
    register = f"{name}_ZERO_POINT"
    signed = registers.value(f"{name}_PRECISION", "signed")
    return registers.signed(register) if signed else registers.value(register)


def operand(registers: Registers, name: str, shape: Shape) -> Operand:
    """Read where IFM or IFM2 lies."""
    if registers.enum(Storage, f"{name}_PRECISION", "storage") is Storage.NONE:
        return Scalar(registers.signed("OP_SCALAR", 32), element_type(registers, name))
    return stored(registers, name, shape)


def stored(registers: Registers, name: str, shape: Shape) -> InMemory | Chained:
    """Read where a feature map of `shape` lies."""
    if math.prod(shape) > MAX_ELEMENTS:
        raise CommandError(f"{name} of {shape} is larger than {MAX_ELEMENTS} elements")
    dtype = element_type(registers, name)
    region = registers.value(f"{name}_REGION")
    storage = registers.enum(Storage, f"{name}_PRECISION", "storage")
    if storage is Storage.CHAINED:
        return Chained(shape, dtype, region)
    if storage is not Storage.TILE2X2:
        raise CommandError(f"{name} storage {storage.name} is not modelled")
    brick = registers.enum(Format, f"{name}_PRECISION", "format") is Format.NHCWB16
    pieces = _brick_pieces if brick else _plain_pieces
    return InMemory(shape, dtype, region, brick, tuple(pieces(registers, name, shape, dtype.itemsize)))


def largest_element(feature_map: Operand, zero: int) -> int:
    """Return how far from 0 an element can be, or the zero point that stands for padding."""
    limits = np.iinfo(feature_map.dtype)
    return max(int(limits.max), -int(limits.min), abs(zero))


def largest_value(feature_map: Operand, zero: int) -> int:
    """Return how far an element can be from the zero point."""
    if isinstance(feature_map, Scalar):
        return abs(feature_map.value - zero)
    limits = np.iinfo(feature_map.dtype)
    return max(int(limits.max) - zero, zero - int(limits.min))


def _tiles(registers: Registers, name: str, shape: Shape) -> Iterator[tuple[int, slice, slice]]:
    """Yield base address, rows and columns of the up to four tiles that hold any element.

    Tiles 0 and 1 lie side by side, cut after WIDTH0 columns; 2 and 3 lie below them, cut after HEIGHT0 and
    HEIGHT1 rows.
    """
    height, width, _ = shape
    column = min(registers.value(f"{name}_WIDTH0_M1") + 1, width)
    left_row = min(registers.value(f"{name}_HEIGHT0_M1") + 1, height)
    right_row = min(registers.value(f"{name}_HEIGHT1_M1") + 1, height)
    tiles = (
        (slice(0, left_row), slice(0, column)),
        (slice(0, right_row), slice(column, width)),
        (slice(left_row, height), slice(0, column)),
        (slice(right_row, height), slice(column, width)),
    )
    for index, (rows, columns) in enumerate(tiles):
        if rows.start < rows.stop and columns.start < columns.stop:
            yield registers.value(f"{name}_BASE{index}"), rows, columns


def _piece(
    rows: slice, columns: slice, channels: slice, group: int, offset: int, strides: tuple[int, int, int, int]
) -> Piece:
    depth = channels.stop - channels.start
    shape = (rows.stop - rows.start, columns.stop - columns.start, depth // group, group)
    size = sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)) + strides[3]
    return Piece((rows, columns, channels), shape, offset, strides, size)


def _plain_pieces(registers: Registers, name: str, shape: Shape, element: int) -> Iterator[Piece]:
    if registers.value(f"{name}_STRIDE_C") != element:
        raise CommandError(f"{name} in NHWC format with gaps between its channels is not modelled")
    strides = (registers.value(f"{name}_STRIDE_Y"), registers.value(f"{name}_STRIDE_X"), 0, element)
    for base, rows, columns in _tiles(registers, name, shape):
        yield _piece(rows, columns, slice(0, shape[2]), shape[2], base, strides)


def _brick_pieces(registers: Registers, name: str, shape: Shape, element: int) -> Iterator[Piece]:
    """Yield the full bricks of each tile, then what is left of its channels."""
    brick_stride = registers.value(f"{name}_STRIDE_C")
    strides = (registers.value(f"{name}_STRIDE_Y"), BRICK * element, brick_stride, element)
    full = shape[2] // BRICK * BRICK
    for base, rows, columns in _tiles(registers, name, shape):
        if full:
            yield _piece(rows, columns, slice(0, full), BRICK, base, strides)
        if full < shape[2]:
            offset = base + full // BRICK * brick_stride
            yield _piece(rows, columns, slice(full, shape[2]), shape[2] - full, offset, strides)
