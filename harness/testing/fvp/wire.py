"""How text becomes the bytes of a console, by the symptoms that concern it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.sim.telnet import DO, IAC, SUPPRESS_GO_AHEAD
from harness.testing.symptoms import Symptom

NO_OPERATION = 241
NOISE = bytes([IAC, NO_OPERATION, IAC, DO, SUPPRESS_GO_AHEAD])
NOISE_EVERY = 50  # bytes
CLEAR_SCREEN, GREEN, PLAIN = b"\x1b[2J\x1b[H", b"\x1b[1;32m", b"\x1b[0m"
PROGRESS = b"  0%\r 50%\r100%\r"
ACCENTED = "  \N{CHECK MARK}\N{LATIN SMALL LETTER E WITH ACUTE}".encode()


class Wire:
    """One console's way out."""

    def __init__(self, symptoms: frozenset[Symptom]) -> None:
        self._symptoms = symptoms
        self._until_noise = NOISE_EVERY
        self._cleared = False

    def line(self, text: str) -> tuple[bytes, ...]:
        """Return a line of boot text in the pieces it is sent in."""
        body, end = text.encode(), b"\r\n"
        if Symptom.ANSI in self._symptoms:
            body = (b"" if self._cleared else CLEAR_SCREEN) + GREEN + body + PLAIN
            self._cleared = True
        if Symptom.BARE_CR in self._symptoms:
            body, end = PROGRESS + body, b"\r\r\n"
        if Symptom.SPLIT_UTF8 in self._symptoms:
            return body + ACCENTED[:-1], ACCENTED[-1:] + end
        return (body + end,)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield `data` in the pieces that are given to the connection."""
        if Symptom.TELNET_NOISE in self._symptoms:
            data = self._with_noise(data)
        step = 1 if Symptom.BYTE_BY_BYTE in self._symptoms else max(len(data), 1)
        for start in range(0, len(data), step):
            yield data[start : start + step]

    def _with_noise(self, data: bytes) -> bytes:
        mixed = bytearray()
        for byte in data:
            mixed.append(byte)
            self._until_noise -= 1
            if not self._until_noise:
                mixed += NOISE
                self._until_noise = NOISE_EVERY
        return bytes(mixed)
