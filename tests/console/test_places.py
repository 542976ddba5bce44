"""Where a record may stand, and what makes a console an error."""

from __future__ import annotations

from functools import partial

import pytest

from harness.console.protocol import Transcript, format_record, parse_console
from harness.errors import ConsoleError

NONCE = "0123456789abcdef"
BUILD = "fedcba9876543210"
spoken = partial(format_record, nonce=NONCE)
HELLO = spoken(0, "hello", {"nonce": NONCE, "build": BUILD})
CLOCK = spoken(1, "clock", {"window": 42})
BYE = spoken(2, "bye", {"status": "ok"})


def read(*lines: str | bytes) -> Transcript:
    console = b"\r\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    return parse_console(console, NONCE, BUILD)


def error(*lines: str | bytes) -> ConsoleError:
    with pytest.raises(ConsoleError) as caught:
        read(*lines)
    return caught.value


@pytest.mark.parametrize(
    ("lines", "noise"),
    [
        pytest.param((HELLO, CLOCK, BYE), (), id="alone"),
        pytest.param((HELLO, f"corstone1000# {CLOCK}", BYE), ("corstone1000# ",), id="behind a prompt"),
        pytest.param((HELLO, f"go 0x88200000{CLOCK}", BYE), ("go 0x88200000",), id="behind an echo"),
        pytest.param((HELLO, f"[INF] up {CLOCK}", BYE), ("[INF] up ",), id="behind a log line"),
        pytest.param((HELLO, f"{CLOCK}[INF] up", BYE), ("[INF] up",), id="before a log line"),
        pytest.param((HELLO, f"{CLOCK}0", BYE), ("0",), id="before a digit"),
        pytest.param((HELLO + CLOCK + BYE,), (), id="glued to others"),
        pytest.param((HELLO, f"@h{CLOCK}", BYE), ("@h",), id="behind half a mark"),
        pytest.param((HELLO, f"12%\r100%\r{CLOCK}\rdone", BYE), ("12%", "100%", "done"), id="overwritten"),
        pytest.param((HELLO, CLOCK.encode()[:20] + b"\x1b[0m" + CLOCK.encode()[20:], BYE), (), id="coloured"),
        pytest.param((HELLO, b"\xe2\x9c" + CLOCK.encode(), BYE), ("\\xe2\\x9c",), id="behind half a letter"),
        pytest.param((HELLO, b"\xff" + CLOCK.encode(), BYE), ("\\xff",), id="behind a stray byte"),
        pytest.param((HELLO, CLOCK, BYE, "U-Boot 2025.10"), ("U-Boot 2025.10",), id="before a restart"),
    ],
)
def test_a_record_is_found_wherever_it_stands(lines, noise):
    transcript = read(*lines)
    assert [each.type for each in transcript.records] == ["hello", "clock", "bye"]
    assert transcript.noise == noise


def test_the_line_of_a_record_is_that_of_the_log():
    assert [each.line for each in read("", HELLO, "noise", f"$ {CLOCK}{BYE}").records] == [2, 4, 4]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((HELLO, CLOCK, CLOCK, BYE), id="echoed"),
        pytest.param((HELLO, HELLO, CLOCK, BYE), id="started again"),
        pytest.param((HELLO, CLOCK + CLOCK, BYE), id="echoed in its line"),
        pytest.param((HELLO, CLOCK, BYE, BYE), id="at the end"),
    ],
)
def test_a_record_that_comes_again_is_an_error(lines):
    found = error(*lines)
    assert "came again where record" in str(found)
    assert "started again" in found.hint


def test_a_board_that_starts_again_after_the_end_is_an_error():
    assert "line 4: record 0 came again where record 3 was due" in str(error(HELLO, CLOCK, BYE, HELLO))


def test_a_lost_record_is_an_error_that_shows_the_lines_before():
    found = error(HELLO, "noise", BYE)
    assert str(found) == "console line 3: record 2 came where record 1 was due"
    assert found.evidence == (HELLO, "noise", BYE)
    assert "lost" in found.hint


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(CLOCK[:-1], id="short of a digit"),
        pytest.param(CLOCK.replace(" *", "*"), id="without a space"),
        pytest.param(CLOCK.replace("@h1 1", "@h1 x"), id="without a number"),
        pytest.param(CLOCK.replace("=", " "), id="without a value"),
        pytest.param(f"$ {CLOCK[:-4]}", id="behind a prompt"),
        pytest.param(f"{CLOCK[:20]}{CLOCK}", id="begun twice"),
        pytest.param(f"{CLOCK}@h1 ", id="begun again"),
        pytest.param(CLOCK[:10].encode() + b"\xc3" + CLOCK[10:].encode(), id="with a foreign byte"),
        pytest.param(CLOCK.encode()[:10] + b"\r" + CLOCK.encode()[10:], id="broken by a bare CR"),
    ],
)
def test_what_begins_as_a_record_and_is_none_is_an_error(damaged):
    found = error(HELLO, damaged, BYE)
    assert str(found).startswith("console line 2: damaged record '@h1 ")
    assert found.evidence[0] == HELLO
    assert "lost or changed" in found.hint


def test_a_record_that_has_lost_its_mark_is_missed():
    assert "record 2 came where record 1 was due" in str(error(HELLO, CLOCK[1:], BYE))


def test_a_changed_record_is_an_error_that_shows_it():
    changed = CLOCK.replace("42", "43")
    found = error(HELLO, changed, BYE)
    assert str(found) == f"console line 2: wrong CRC in record {changed!r}"
    assert found.evidence == (HELLO, changed)


def test_what_begins_as_a_record_behind_the_last_is_an_error():
    assert "line 4: damaged record '@h1 3 infer'" in str(error(HELLO, CLOCK, BYE, "@h1 3 infer"))


def test_an_error_quotes_no_more_of_a_line_than_a_record_may_have():
    found = error(HELLO, "@h1 1 data b64=" + "A" * 100_000, BYE)
    assert len(str(found)) < 200
    assert all(len(line) <= 120 for line in found.evidence)
