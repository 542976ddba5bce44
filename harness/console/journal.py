"""The journal of a run: what each console printed, apart and together, with the time since the start."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_EVIDENCE_LINES = 5


@dataclass(frozen=True)
class Piece:
    """Bytes as they came from a console, `seconds` after the journal was opened."""

    seconds: float
    console: str
    data: bytes


class Journal:
    """Takes what consoles print, from any thread."""

    def __init__(self, listener: Callable[[str, bytes], None] | None = None) -> None:
        """Open the journal; `listener` hears of every piece, in the thread that brought it."""
        self._start = time.monotonic()
        self._pieces: list[Piece] = []
        self._lock = threading.Lock()
        self._listener = listener

    def writer(self, console: str) -> Writer:
        """A file-like object that enters what is written to it as output of this console."""
        return Writer(self, console)

    def enter(self, console: str, data: bytes) -> None:
        """Take note of output."""
        with self._lock:
            self._pieces.append(Piece(time.monotonic() - self._start, console, data))
        if self._listener is not None:
            self._listener(console, data)

    def of(self, console: str) -> bytes:
        """All that one console has printed so far."""
        with self._lock:
            return b"".join(piece.data for piece in self._pieces if piece.console == console)

    @property
    def consoles(self) -> tuple[str, ...]:
        """Those that have printed something, in the order in which they began."""
        with self._lock:
            return tuple(dict.fromkeys(piece.console for piece in self._pieces))

    def merged(self) -> Iterator[str]:
        """The lines of all consoles in the order in which they ended, with time and console."""
        unfinished: dict[str, bytes] = {}
        with self._lock:
            pieces = tuple(self._pieces)
        for piece in pieces:
            *lines, rest = (unfinished.get(piece.console, b"") + piece.data).split(b"\n")
            unfinished[piece.console] = rest
            for line in lines:
                yield f"[{piece.seconds:10.3f}] {piece.console}: {_text(line)}"
        end = pieces[-1].seconds if pieces else 0.0
        for console, rest in unfinished.items():
            if rest.strip():
                yield f"[{end:10.3f}] {console}: {_text(rest)}"

    def tail(self, lines: int = _EVIDENCE_LINES) -> tuple[str, ...]:
        """The last non-empty lines of each console; with its name where there are several."""
        consoles = self.consoles
        return tuple(
            f"{console}: {line}" if len(consoles) > 1 else line
            for console in consoles
            for line in _last_lines(self.of(console), lines)
        )

    def save(self, folder: Path) -> None:
        """Write a log for each console, `NAME.log`, and one of all, `all.log`."""
        folder.mkdir(parents=True, exist_ok=True)
        for console in self.consoles:
            (folder / f"{console}.log").write_bytes(self.of(console))
        (folder / "all.log").write_text("".join(f"{line}\n" for line in self.merged()), encoding="utf-8")


@dataclass(frozen=True)
class Writer:
    """What pexpect wants of a log file."""

    journal: Journal
    console: str

    def write(self, data: bytes) -> None:
        """Enter what the console has printed."""
        self.journal.enter(self.console, data)

    def flush(self) -> None:
        """Nothing waits to be written."""


def _last_lines(data: bytes, count: int) -> tuple[str, ...]:
    text = data.decode("ascii", errors="backslashreplace")
    return tuple(line.strip("\r") for line in text.split("\n") if line.strip())[-count:]


def _text(line: bytes) -> str:
    return line.decode("ascii", errors="backslashreplace").rstrip("\r")
