"""The record protocol: what is read, what is noise, and what is an error."""

from __future__ import annotations

import random
from functools import partial

import pytest

from harness.console.protocol import format_record, parse_console
from harness.errors import ConsoleError

NONCE = "0123456789abcdef"
BUILD = "fedcba9876543210"
spoken = partial(format_record, nonce=NONCE)


def console(*middle: str) -> bytes:
    lines = [
        spoken(0, "hello", {"nonce": NONCE, "build": BUILD, "cells": 0}),
        *middle,
        spoken(1, "bye", {"status": "ok"}),
    ]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\x04"


def test_records_are_read_in_order() -> None:
    transcript = parse_console(console(), NONCE, BUILD)
    assert [record.type for record in transcript.records] == ["hello", "bye"]
    assert transcript.noise == ()


def test_foreign_lines_are_kept_as_noise() -> None:
    assert parse_console(console("U-Boot 2025.10"), NONCE, BUILD).noise == ("U-Boot 2025.10",)


def test_a_foreign_nonce_is_an_error() -> None:
    with pytest.raises(ConsoleError, match="another run"):
        parse_console(console(), "f" * 16, BUILD)


def test_another_image_is_an_error() -> None:
    with pytest.raises(ConsoleError, match=f"ran image {BUILD}, not {'0' * 16}"):
        parse_console(console(), NONCE, "0" * 16)


def test_a_wrong_crc_names_its_line() -> None:
    damaged = console().replace(b"status=ok", b"status=no")
    with pytest.raises(ConsoleError, match="line 2: wrong CRC"):
        parse_console(damaged, NONCE, BUILD)


def test_a_missing_record_is_an_error() -> None:
    gap = console().replace(spoken(1, "bye", {"status": "ok"}).encode(), b"") + (
        spoken(2, "bye", {"status": "ok"}).encode()
    )
    with pytest.raises(ConsoleError, match="record 2 came where record 1 was due"):
        parse_console(gap, NONCE, BUILD)


EXCEPTION = spoken(1, "fault", {"kind": "exception", "cell": "0"})
BYE = spoken(2, "bye", {"status": "fault"})


def cut_short_by(*records: str) -> bytes:
    """A console in which record 1 breaks off, and these follow."""
    hello = console().splitlines(keepends=True)[0]
    return hello + b"@h1 1 data cell=0 ind\r\n" + "\r\n".join(records).encode()


def test_a_record_that_an_exception_cuts_short_is_noise() -> None:
    transcript = parse_console(cut_short_by(EXCEPTION, BYE), NONCE, BUILD)
    assert [record.type for record in transcript.records] == ["hello", "fault", "bye"]
    assert transcript.noise == ("@h1 1 data cell=0 ind",)


@pytest.mark.parametrize("after", [(), (spoken(1, "bye", {"status": "ok"}),)], ids=["nothing", "bye"])
def test_a_record_that_breaks_off_for_nothing_is_an_error(after: tuple[str, ...]) -> None:
    with pytest.raises(ConsoleError, match="line 2: damaged record '@h1 1 data"):
        parse_console(cut_short_by(*after), NONCE, BUILD)


def test_a_console_without_bye_is_an_error_with_its_last_lines() -> None:
    cut = console("last words").split(b"@h1 1")[0]
    with pytest.raises(ConsoleError, match="before 'bye'") as caught:
        parse_console(cut, NONCE, BUILD)
    assert caught.value.evidence[-1] == "last words"


def test_an_empty_console_is_an_error() -> None:
    with pytest.raises(ConsoleError, match="no record"):
        parse_console(b"", NONCE, BUILD)


def test_a_record_longer_than_a_line_may_be_is_an_error() -> None:
    with pytest.raises(ConsoleError, match="longer than 120"):
        parse_console(console(spoken(1, "data", {"b64": "A" * 120})), NONCE, BUILD)


def test_a_number_that_is_none_is_an_error() -> None:
    transcript = parse_console(console(), NONCE, BUILD)
    with pytest.raises(ConsoleError, match="is not a number"):
        transcript.records[0].number("nonce")


def test_random_corruption_never_changes_a_record() -> None:
    """A damaged console gives a typed error or the very same records, never another value."""
    sound = console("noise between")
    records = [(record.type, dict(record.fields)) for record in parse_console(sound, NONCE, BUILD).records]
    chance = random.Random(85)
    for _ in range(5000):
        spoiled = bytearray(sound)
        for _ in range(chance.randint(1, 4)):
            spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
        try:
            again = parse_console(bytes(spoiled), NONCE, BUILD)
        except ConsoleError:
            continue
        assert [(record.type, dict(record.fields)) for record in again.records] == records
