"""A line editor on a console: what is typed is echoed, erased and ended as U-Boot and a Linux tty do it."""

from __future__ import annotations

from harness.testing.fvp.model import Model

CONTROL_C, BACKSPACE, NEWLINE, RETURN, DELETE = 3, 8, 10, 13, 127
FIRST_PRINTABLE = 32
ERASE = b"\b \b"


class Keyboard:
    """Reads lines from one console."""

    def __init__(self, model: Model, console: str) -> None:
        self._model = model
        self._console = console
        self._after_return = False

    def read_line(self, prompt: str) -> str | None:
        """Return the next line without its end, None when it was given up by Ctrl-C."""
        self._model.transmit(self._console, prompt.encode())
        line = bytearray()
        while True:
            byte = self._model.read_byte(self._console, None)
            # CR LF is one end of a line.
            is_second_end, self._after_return = self._after_return and byte == NEWLINE, byte == RETURN
            if byte is None or is_second_end:
                continue
            if byte in (NEWLINE, RETURN):
                self._echo(b"\r\n")
                return line.decode(errors="replace")
            if byte == CONTROL_C:
                self._echo(b"^C\r\n")
                return None
            if byte in (BACKSPACE, DELETE):
                self._echo(ERASE if line else b"")
                del line[-1:]
            elif byte >= FIRST_PRINTABLE:
                line.append(byte)
                self._echo(bytes([byte]))

    def _echo(self, data: bytes) -> None:
        self._model.transmit(self._console, data)
