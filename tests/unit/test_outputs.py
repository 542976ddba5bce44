"""Outputs from data and digest records: complete, as their digest says, or an error."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

import pytest

from harness.console.protocol import Record
from harness.errors import ConsoleError
from harness.results.outputs import OutputBook

FIRST, SECOND = (b"abcdefgh", b"xyz"), (b"ABCDEFGH", b"XYZ")
SIZES = (8, 3)


def record(kind: str, **fields: object) -> Record:
    return Record(0, kind, " ".join(f"{key}={value}" for key, value in fields.items()), 7)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def digest(index: int, outputs: Sequence[bytes]) -> Record:
    return record("digest", index=index, b64=encoded(hashlib.sha256(b"".join(outputs)).digest()))


def data(index: int, outputs: Sequence[bytes], chunk: int = 5) -> list[Record]:
    return [
        record("data", index=index, output=number, offset=at, b64=encoded(output[at : at + chunk]))
        for number, output in enumerate(outputs)
        for at in range(0, len(output), chunk)
    ]


def infer(index: int, chosen: int = 0) -> Record:
    return record("infer", index=index, input=chosen)


def test_outputs_are_put_together_from_their_chunks() -> None:
    book = OutputBook(SIZES, [digest(4, FIRST), *data(4, FIRST)])
    assert book.outputs(infer(4)) == FIRST


def test_outputs_that_were_sent_before_need_only_their_digest() -> None:
    book = OutputBook(SIZES, [digest(0, FIRST), *data(0, FIRST), digest(1, FIRST)])
    assert [book.outputs(infer(0)), book.outputs(infer(1))] == [FIRST, FIRST]


def test_other_outputs_for_the_same_input_are_sent_in_full() -> None:
    records = [digest(0, FIRST), *data(0, FIRST), digest(1, SECOND), *data(1, SECOND)]
    book = OutputBook(SIZES, records)
    assert [book.outputs(infer(0)), book.outputs(infer(1))] == [FIRST, SECOND]


def test_a_digest_that_nothing_has_is_an_error() -> None:
    book = OutputBook(SIZES, [digest(0, FIRST), *data(0, FIRST), digest(1, SECOND)])
    book.outputs(infer(0))
    with pytest.raises(ConsoleError, match="inference 1 sent no outputs, and none before it for input 0"):
        book.outputs(infer(1))


def test_a_digest_known_for_another_input_is_an_error() -> None:
    book = OutputBook(SIZES, [digest(0, FIRST), *data(0, FIRST), digest(1, FIRST)])
    book.outputs(infer(0))
    with pytest.raises(ConsoleError, match="for input 1"):
        book.outputs(infer(1, chosen=1))


def test_outputs_that_are_not_their_digests_are_an_error() -> None:
    book = OutputBook(SIZES, [digest(0, SECOND), *data(0, FIRST)])
    with pytest.raises(ConsoleError, match="not those of their digest"):
        book.outputs(infer(0))


def test_an_inference_without_digest_is_an_error() -> None:
    with pytest.raises(ConsoleError, match="inference 0 has no digest"):
        OutputBook(SIZES, data(0, FIRST)).outputs(infer(0))


@pytest.mark.parametrize(("left_out", "said"), [(0, "gap at offset 0"), (1, "has 5 bytes, its tensor 8")])
def test_a_missing_chunk_is_an_error(left_out: int, said: str) -> None:
    chunks = data(0, FIRST)
    del chunks[left_out]
    with pytest.raises(ConsoleError, match=said):
        OutputBook(SIZES, [digest(0, FIRST), *chunks]).outputs(infer(0))


def test_data_that_is_not_base64_is_an_error() -> None:
    spoiled = record("data", index=0, output=0, offset=0, b64="###")
    with pytest.raises(ConsoleError, match="not base64"):
        OutputBook(SIZES, [digest(0, FIRST), spoiled]).outputs(infer(0))
