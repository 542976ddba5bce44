"""The text in a terminal's bytes comes out whatever a terminal adds to it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.console.journal import Journal
from harness.console.text import plain, without_telnet


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        pytest.param(b"one\r\ntwo\r\n", b"one\ntwo\n", id="crlf"),
        pytest.param(b"one\r\r\ntwo", b"one\ntwo", id="crcrlf"),
        pytest.param(b"one\rtwo\r", b"one\ntwo\n", id="bare-cr"),
        pytest.param(b"one\r\x00two", b"one\ntwo", id="telnet-bare-cr"),
        pytest.param(b"\xff\xfb\x01\xff\xfd\x18login: ", b"login: ", id="negotiation"),
        pytest.param(b"a\xff\xffb", b"a\xffb", id="escaped-iac"),
        pytest.param(b"\xff\xff\xfb\x01", b"\xff\xfb\x01", id="escaped-iac-before-a-command"),
        pytest.param(b"a\xff\xfa\x18\x00xterm\xff\xf0b", b"ab", id="subnegotiation"),
        pytest.param(b"a\xff\xfa\x1f\xff\xff\n\xff\xf0b", b"ab", id="subnegotiation-of-a-window-size"),
        pytest.param(b"\xff\xfa\x18one\ntwo", b"\xff\xfa\x18one\ntwo", id="subnegotiation-without-end"),
        pytest.param(b"\xff\xf1a", b"a", id="nop"),
        pytest.param(b"\xff@h1 ", b"\xff@h1 ", id="stray-255"),
        pytest.param(b"\x1b[2K\x1b[32mgreen\x1b[0m", b"green", id="colour"),
        pytest.param(b"\x1b[?25l\x1b[1 qtext", b"text", id="cursor"),
        pytest.param(b"\x1b]0;title\x07text\x1b]2;t\x1b\\!", b"text!", id="title"),
        pytest.param(b"\x1b]0;title\nnext\x07", b"0;title\nnext\x07", id="title-without-end"),
        pytest.param(b"a\x1bP1$r0m\x1b\\b\x1b_G\x1b\\c", b"abc", id="other-strings"),
        pytest.param(b"\x1b(Btext\x1b7\x1b8\x1b=\x1b#8\x1bc", b"text", id="charset"),
        pytest.param(b"text\x1b", b"text\x1b", id="escape-at-end"),
        pytest.param(b"autoboot:  3 \x08\x08\x08 2 \x08\x08\x08 1 ", b"autoboot:  1 ", id="countdown"),
        pytest.param(b"one\n\x08\x08two", b"one\ntwo", id="backspace-at-start"),
        pytest.param(b"a\x00b\x04", b"ab", id="nul"),
        pytest.param(b"caf\xc3\xa9 \xe2\x9c\x93", b"caf\xc3\xa9 \xe2\x9c\x93", id="utf-8"),
        pytest.param(b"", b"", id="empty"),
    ],
)
def test_what_a_terminal_adds_is_taken_away(sent, text):
    assert plain(sent) == text


TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.just("\n")).map(str.encode)
ESCAPES = (b"\x1b[0m", b"\x1b[1;31m", b"\x1b]0;t\x07", b"\x1b(B", b"\x1b7", b"\x1bPq\x1b\\", b"\x00")
COMMANDS = (b"\xff\xfb\x01", b"\xff\xfe\xff", b"\xff\xf9", b"\xff\xfa\x18\x00\xff\xf0")


@settings(deadline=None)
@given(TEXTS)
def test_printable_text_stays_as_it_is(text):
    assert plain(text) == text


@settings(deadline=None)
@given(st.data(), TEXTS)
def test_what_a_terminal_adds_may_stand_anywhere_and_telnet_within_escapes(data, text):
    assert plain(scattered(data, COMMANDS, scattered(data, ESCAPES, text))) == text


def scattered(data, additions: tuple[bytes, ...], text: bytes) -> bytes:
    """The text with some of the additions between its bytes, none of them within another."""
    places = st.lists(st.tuples(st.integers(0, len(text)), st.sampled_from(additions)), max_size=5)
    for at, addition in sorted(data.draw(places), reverse=True):
        text = text[:at] + addition + text[at:]
    return text


@settings(deadline=None)
@given(st.lists(st.binary() | st.sampled_from((*ESCAPES, *COMMANDS, b"\r", b"\n", b"\x08", b"\xe2\x9c\x93"))))
def test_the_pieces_in_which_a_console_comes_make_no_difference(pieces):
    journal = Journal()
    for byte in b"".join(pieces):
        journal.enter("bytes", bytes([byte]))
    for piece in pieces:
        journal.enter("pieces", piece)
    assert plain(journal.of("pieces")) == plain(journal.of("bytes")) == plain(b"".join(pieces))


@settings(deadline=None)
@given(st.binary())
def test_whatever_is_sent_the_result_has_no_control_of_a_terminal(data):
    assert not {0x00, 0x04, 0x08, 0x0D}.intersection(plain(data))


@pytest.mark.parametrize(
    "sent",
    [b"\xff\xfa", b"\xff\xfa\xff\xff\xfa", b"\x1b]", b"\x1b[1", b"\x1b[", b"\x1bP\x1b\\"],
    ids=lambda sent: sent.hex(),
)
def test_sequences_without_an_end_do_not_make_it_read_everything_again(sent):
    plain(sent * 200_000)  # takes hours where each of them is followed to the end of the text


def test_many_backspaces_do_not_make_it_read_everything_again():
    assert plain(b"a" * 300_000 + b"\x08" * 299_999) == b"a"


@settings(deadline=None)
@given(
    st.lists(st.sampled_from((b"text", b"\xff\xfb\x01", b"\xff\xfd\x18", b"\xff\xf1", b"\xff\xff"))),
    st.data(),
)
def test_telnet_is_taken_out_of_a_stream_wherever_its_pieces_are_cut(words, data):
    stream = b"".join(words)
    cut = data.draw(st.integers(0, len(stream)))
    first, unfinished = without_telnet(stream[:cut])
    second, rest = without_telnet(unfinished + stream[cut:])
    assert (first + second, rest) == (plain_of(words), b"")


def plain_of(words):
    """What the words say: text, and an escaped byte 255."""
    return b"".join({b"text": b"text", b"\xff\xff": b"\xff"}.get(word, b"") for word in words)
