"""FlatBuffers tables by field number, with every offset held against the file.

The format is that of "FlatBuffers, Internals": a table starts with the distance back to its vtable, which
gives for each field its distance from the table's start, or 0 for a field that was left out. The readers that
schemas are compiled to check nothing, and a damaged file leads them anywhere.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_VTABLE_START = 4  #: bytes before the first field's entry: the vtable's own size, and the table's


class FlatbufferError(ValueError):
    """An offset leads out of the file; the message says from where."""


@dataclass(frozen=True)
class Table:
    """One table. Fields are counted from 0 in the order of the schema; a union is two, its type first."""

    data: bytes
    position: int  #: of the table, in bytes from the start of `data`

    def number(self, field: int, form: str) -> int:
        """A scalar, of the `struct` format `form`; 0 where it was left out. Raises FlatbufferError."""
        position = self._position(field)
        return 0 if position is None else _number(self.data, position, form)

    def text(self, field: int) -> str:
        """A string; empty where it was left out. Raises FlatbufferError."""
        return self._text(self.blob(field))

    def texts(self, field: int) -> tuple[str, ...]:
        """A vector of strings; empty where it was left out. Raises FlatbufferError."""
        start, count = self._vector(field, 4)
        places = (self._elements(start + 4 * index, 1) for index in range(count))
        return tuple(self._text(self.data[first : first + size]) for first, size in places)

    def blob(self, field: int) -> bytes:
        """A vector of bytes; empty where it was left out. Raises FlatbufferError."""
        start, count = self._vector(field, 1)
        return self.data[start : start + count]

    def _text(self, content: bytes) -> str:
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise FlatbufferError(f"a string of the table at byte {self.position} is not UTF-8") from error

    def numbers(self, field: int) -> tuple[int, ...]:
        """A vector of int32; empty where it was left out. Raises FlatbufferError."""
        start, count = self._vector(field, 4)
        return struct.unpack_from(f"<{count}i", self.data, start)

    def table(self, field: int) -> Table | None:
        """A table; None where it was left out. Raises FlatbufferError."""
        position = self._position(field)
        return None if position is None else Table(self.data, _target(self.data, position))

    def tables(self, field: int) -> tuple[Table, ...]:
        """A vector of tables; empty where it was left out. Raises FlatbufferError."""
        start, count = self._vector(field, 4)
        return tuple(Table(self.data, _target(self.data, start + 4 * index)) for index in range(count))

    def _position(self, field: int) -> int | None:
        vtable = self.position - _number(self.data, self.position, "i")
        entry = _VTABLE_START + 2 * field
        if entry + 2 > _number(self.data, vtable, "H"):
            return None
        offset = _number(self.data, vtable + entry, "H")
        return self.position + offset if offset else None

    def _vector(self, field: int, element_size: int) -> tuple[int, int]:
        """Where the first element stands, and how many there are."""
        position = self._position(field)
        return (0, 0) if position is None else self._elements(position, element_size)

    def _elements(self, position: int, element_size: int) -> tuple[int, int]:
        """The same for the vector that the distance at `position` leads to."""
        vector = _target(self.data, position)
        count = _number(self.data, vector, "I")
        if vector + 4 + count * element_size > len(self.data):
            raise FlatbufferError(f"the vector at byte {vector} ends behind the file")
        return vector + 4, count


def root_table(data: bytes) -> Table:
    """The table that the file holds. Raises FlatbufferError."""
    return Table(data, _target(data, 0))


def _target(data: bytes, position: int) -> int:
    """Where the unsigned distance at `position`, counted from itself, leads."""
    return position + _number(data, position, "I")


def _number(data: bytes, position: int, form: str) -> int:
    if not 0 <= position <= len(data) - struct.calcsize(f"<{form}"):
        raise FlatbufferError(f"an offset leads to byte {position} of {len(data)}")
    value: int = struct.unpack_from(f"<{form}", data, position)[0]
    return value
