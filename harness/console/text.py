"""What a terminal's bytes say: without telnet's negotiation, without escape sequences, line by line."""

from __future__ import annotations

import re

# RFC 854: a doubled IAC is a byte 255; WILL, WONT, DO and DONT have an option; SB goes on to SE.
_TELNET = re.compile(rb"\xff(?:\xff|[\xfb-\xfe].|\xfa.*?\xff\xf0|[^\xfa-\xff])", re.DOTALL)
_IAC = b"\xff"
# ECMA-48: CSI, OSC, and the short ones, with those that choose a character set.
_ESCAPE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()*+][0-9A-Za-z]|[0-9=>@-Z\\^_c])"
)
_LINE_END = re.compile(rb"\r+\n?")
_ERASED = re.compile(rb"[^\n\x08]\x08")
_UNUSUAL = re.compile(rb"[\x00\x04\x08\x1b\xff]|\r(?!\n)")


def plain(data: bytes) -> bytes:
    """The text in what a console has sent.

    A carriage return ends a line, also without a line feed: what is written over a line is a line of its own.
    A backspace takes back the character before it. NUL and EOT are left out.
    """
    if not _UNUSUAL.search(data):
        return data.replace(b"\r\n", b"\n")
    text = _TELNET.sub(lambda match: _IAC if match[0] == 2 * _IAC else b"", data)
    text = _LINE_END.sub(b"\n", _ESCAPE.sub(b"", text)).translate(None, b"\x00\x04")
    while (erased := _ERASED.sub(b"", text)) != text:
        text = erased
    return text.translate(None, b"\x08")
