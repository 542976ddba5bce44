"""The outputs of inferences, from their data and digest records.

Every completed inference has a `digest`: the SHA-256 of all its outputs. The bytes themselves follow only
where the same slot has not sent outputs of the same digest for the same input before.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Sequence

from harness.console.protocol import Record
from harness.errors import ConsoleError

Outputs = tuple[bytes, ...]


class OutputBook:
    """The outputs that one slot has sent so far."""

    def __init__(self, sizes: Sequence[int], records: Iterable[Record]) -> None:
        """Sort a cell's records by inference; `sizes` are the bytes of each output."""
        self._sizes = tuple(sizes)
        self._data: dict[int, list[Record]] = {}
        self._digests: dict[int, Record] = {}
        self._known: dict[tuple[int, bytes], Outputs] = {}
        for record in records:
            if record.type == "data":
                self._data.setdefault(record.number("index"), []).append(record)
            elif record.type == "digest":
                self._digests[record.number("index")] = record

    def outputs(self, inference: Record) -> Outputs:
        """The outputs of a completed inference, to be asked for in order.

        Raises ConsoleError when bytes are missing, or are not those of the digest.
        """
        index, used = inference.number("index"), inference.number("input")
        if index not in self._digests:
            raise ConsoleError(f"console line {inference.line}: inference {index} has no digest")
        digest = _decoded(self._digests[index])
        if index not in self._data:
            try:
                return self._known[used, digest]
            except KeyError:
                raise ConsoleError(
                    f"console line {inference.line}: inference {index} sent no outputs, and none before it "
                    f"for input {used} has their digest"
                ) from None
        chunks = self._data[index]
        outputs = tuple(
            _joined([chunk for chunk in chunks if chunk.number("output") == number], size, inference)
            for number, size in enumerate(self._sizes)
        )
        if hashlib.sha256(b"".join(outputs)).digest() != digest:
            raise ConsoleError(f"console line {inference.line}: the outputs are not those of their digest")
        self._known[used, digest] = outputs
        return outputs


def _joined(chunks: Sequence[Record], size: int, inference: Record) -> bytes:
    collected = bytearray()
    for chunk in chunks:
        if chunk.number("offset") != len(collected):
            raise ConsoleError(f"console line {chunk.line}: output data has a gap at offset {len(collected)}")
        collected += _decoded(chunk)
    if len(collected) != size:
        raise ConsoleError(
            f"console line {inference.line}: an output has {len(collected)} bytes, its tensor {size}"
        )
    return bytes(collected)


def _decoded(record: Record) -> bytes:
    try:
        return base64.b64decode(record.text("b64"), validate=True)
    except binascii.Error:
        raise ConsoleError(f"console line {record.line}: output data is not base64") from None
