"""What a terminal's bytes say: without telnet's negotiation, without escape sequences, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable

# No pattern goes back over what it has read (`*+`), so that the time is linear in the size of what is sent.

# RFC 854, 855: after IAC, IAC is a byte 255, WILL, WONT, DO and DONT have an option, SB goes on to IAC SE.
_TELNET = re.compile(
    rb"\xff(?:(?P<escaped>\xff)|[\xfb-\xfe].|\xfa(?:[^\xff]|\xff\xff)*+\xff\xf0|[\xf0-\xf9])", re.DOTALL
)
_UNFINISHED = re.compile(rb"\xff[\xfb-\xfe]?\Z")
# ECMA-48, 5.4 and 5.6: control sequences, and control strings, which end with ST (or BEL, as xterm's do) and
# in the line in which they begin. ECMA-35, 13.2: all others, those that choose a character set among them.
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|[\]PX^_][^\x07\x1b\r\n]*+(?:\x07|\x1b\\)|[ -/]*+[0-~])")
_FILLERS = b"\x00\x04"  # NUL, with which terminals gain time, and the firmware's last byte
_BACKSPACE = 0x08
_LINE_WITH_BACKSPACE = re.compile(rb"^[^\n\x08]*+\x08[^\n]*", re.MULTILINE)


def plain(data: bytes) -> bytes:
    """The text in what a console has sent, its lines ended by LF.

    A carriage return ends a line, also without a line feed: a line that is written over another is a line of
    its own, since what it hides may be a record. A backspace takes back the character before it in its line.
    Printable bytes stay, UTF-8 as well; so do telnet commands and escape sequences that are not complete.
    """
    text = _without_commands(data).translate(None, _FILLERS)
    text = _replaced(_ESCAPE, lambda _found: b"", text)
    text = text.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return _replaced(_LINE_WITH_BACKSPACE, _corrected, text)


def without_telnet(data: bytes) -> tuple[bytes, bytes]:
    """Bytes as they come from a socket, without telnet's commands; and a command at the end that goes on.

    What goes on belongs before the bytes that come next. Of a subnegotiation that is not complete only its
    beginning is looked at, so that a stray one cannot hold back all that follows.
    """
    last = 0
    for found in _TELNET.finditer(data):
        last = found.end()
    unfinished = _UNFINISHED.search(data, last)
    end = unfinished.start() if unfinished else len(data)
    return _without_commands(data[:end]), data[end:]


def _without_commands(data: bytes) -> bytes:
    return _replaced(_TELNET, lambda found: found["escaped"] or b"", data)


def _replaced(pattern: re.Pattern[bytes], by: Callable[[re.Match[bytes]], bytes], text: bytes) -> bytes:
    """As `re.sub`, which however holds all pieces at once: forty times the text where there are many."""
    result = bytearray()
    end = 0
    for found in pattern.finditer(text):
        result += text[end : found.start()]
        result += by(found)
        end = found.end()
    return bytes(result + text[end:]) if end else text


def _corrected(line: re.Match[bytes]) -> bytes:
    kept = bytearray()
    for byte in line[0]:
        if byte == _BACKSPACE:
            del kept[-1:]
        else:
            kept.append(byte)
    return bytes(kept)
