"""The telnet protocol as far as a terminal's port needs it (RFC 854, 857 and 858).

The server offers to echo and to suppress go-ahead, which puts a telnet client into character mode, and pays
no attention to what the client answers.
"""

from __future__ import annotations

from enum import Enum, auto

IAC, DO, WILL, SUBNEGOTIATION, END = 255, 253, 251, 250, 240
FIRST_WITH_OPTION = 251  # WILL, WONT, DO and DONT are followed by the number of an option
ECHO, SUPPRESS_GO_AHEAD = 1, 3
GREETING = bytes([IAC, WILL, ECHO, IAC, WILL, SUPPRESS_GO_AHEAD, IAC, DO, SUPPRESS_GO_AHEAD])


def encode(data: bytes) -> bytes:
    """Return `data` with IAC doubled, so that none of it is taken for a command."""
    return data.replace(bytes([IAC]), bytes([IAC, IAC]))


class _State(Enum):
    TEXT = auto()
    COMMAND = auto()  # IAC was the last byte
    OPTION = auto()
    PARAMETERS = auto()  # of a subnegotiation
    PARAMETERS_IAC = auto()


class Decoder:
    """Takes the commands out of what a client sends; they may be split anywhere."""

    def __init__(self) -> None:
        self._state = _State.TEXT

    def decode(self, data: bytes) -> bytes:
        """Return the bytes that were typed."""
        return bytes(byte for byte in data if self._is_text(byte))

    def _is_text(self, byte: int) -> bool:
        state, self._state = self._state, _State.TEXT
        if state is _State.TEXT and byte == IAC:
            self._state = _State.COMMAND
        elif state is _State.COMMAND and byte == SUBNEGOTIATION:
            self._state = _State.PARAMETERS
        elif state is _State.COMMAND and FIRST_WITH_OPTION <= byte < IAC:
            self._state = _State.OPTION
        elif state is _State.PARAMETERS:
            self._state = _State.PARAMETERS_IAC if byte == IAC else _State.PARAMETERS
        elif state is _State.PARAMETERS_IAC and byte != END:
            self._state = _State.PARAMETERS
        return (state is _State.TEXT and byte != IAC) or (state is _State.COMMAND and byte == IAC)
