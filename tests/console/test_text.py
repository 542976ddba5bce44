"""The text in a terminal's bytes comes out whatever a terminal adds to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.console.text import plain


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (b"one\r\ntwo\r\n", b"one\ntwo\n"),
        (b"one\r\r\ntwo", b"one\ntwo"),
        (b"one\rtwo\r", b"one\ntwo\n"),
        (b"\xff\xfb\x01\xff\xfd\x18login: ", b"login: "),
        (b"a\xff\xffb", b"a\xffb"),
        (b"a\xff\xfa\x18\x00xterm\xff\xf0b", b"ab"),
        (b"\xff\xf1a", b"a"),
        (b"\x1b[2K\x1b[32mgreen\x1b[0m", b"green"),
        (b"\x1b]0;title\x07text\x1b]2;t\x1b\\!", b"text!"),
        (b"\x1b(Btext\x1b7\x1b8\x1b=", b"text"),
        (b"autoboot:  3 \x08\x08\x08 2 \x08\x08\x08 1 ", b"autoboot:  1 "),
        (b"\x08\x08start", b"start"),
        (b"a\x00b\x04", b"ab"),
        ("caf\u00e9 \u2713".encode(), "caf\u00e9 \u2713".encode()),
        (b"", b""),
    ],
    ids=[
        *("crlf", "crcrlf", "bare-cr", "negotiation", "escaped-iac", "subnegotiation", "nop", "colour"),
        *("title", "charset", "countdown", "backspace-at-start", "nul", "utf-8", "empty"),
    ],
)
def test_what_a_terminal_adds_is_taken_away(sent, text):
    assert plain(sent) == text


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_printable_text_stays_as_it_is(text):
    assert plain(text.encode()) == text.encode()


@given(st.binary())
def test_whatever_is_sent_the_result_has_no_control_of_a_terminal(data):
    assert not {0x00, 0x04, 0x08, 0x0D}.intersection(plain(data))
