"""Watching a run for its end before its time: death strings, a limit of the model, a model that is gone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from harness.boards.config import BoardConfig
from harness.console.journal import Journal
from harness.console.text import plain
from harness.errors import BoardError

# A model's words when it stops at --timelimit, --cpulimit, --simlimit or --cyclelimit. Its status is 0 then.
_LIMIT = re.compile(r"Simulation is stopping\. Reason: (?P<reason>.*?)\.?\s*$")
_LONGEST_LINE = 4096
_SETTLED_SECONDS = 0.5  #: a line that is not continued by then is taken as it is


@dataclass(frozen=True)
class Death:
    """A line that says that the run is over, and the console that it came from."""

    console: str
    line: str


class Watch:
    """Hears what all consoles print, and knows from the board file which lines end a run."""

    def __init__(self, config: BoardConfig) -> None:
        """Start with nothing heard."""
        self._board = config.name
        self._deaths = re.compile("|".join(f"(?:{text})" for text in config.deaths) or r"(?!)")
        self._harmless = re.compile("|".join(f"(?:{text})" for text in config.harmless) or r"(?!)")
        self._landmarks = tuple((mark, re.compile(mark.text)) for mark in config.landmarks)
        self._unfinished: dict[str, tuple[bytes, float]] = {}  #: by console, and since when
        self._death: Death | None = None
        self.limit = ""  #: why the model stopped by itself; empty while it has not said so
        self.phase = ""  #: what was last reached

    def hear(self, console: str, data: bytes) -> None:
        """Look at output, line by line; the last line waits for what may follow."""
        text = self._unfinished.get(console, (b"", 0.0))[0] + data
        *lines, rest = text.replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._look(console, line)
        self._unfinished[console] = rest[-_LONGEST_LINE:], time.monotonic()

    def hear_the_rest(self, settled_seconds: float = 0.0) -> None:
        """Look at last lines to which nothing has been added for so long."""
        for console, (rest, since) in tuple(self._unfinished.items()):
            if time.monotonic() - since >= settled_seconds:
                self._look(console, rest)

    def checker(self, journal: Journal) -> Callable[[], None]:
        """A function that raises BoardError once the run is over."""

        def check() -> None:
            self.hear_the_rest(_SETTLED_SECONDS)
            if self._death is not None:
                reached = f" after {self.phase}" if self.phase else ""
                raise BoardError(
                    f"board {self._board} died{reached}: its {self._death.console} console says "
                    f"{self._death.line!r}",
                    evidence=journal.tail(),
                )
            if self.limit:
                raise BoardError(
                    f"board {self._board} stopped at a limit of its model: {self.limit}",
                    hint="raise the limit in the board file's parameters, or on the command line",
                    evidence=journal.tail(),
                )

        return check

    def _look(self, console: str, data: bytes) -> None:
        line = plain(data).decode("ascii", errors="replace")
        if self._death is None and self._deaths.search(line) and not self._harmless.search(line):
            self._death = Death(console, line.strip())
        if not self.limit and (match := _LIMIT.search(line)):
            self.limit = match["reason"]
        for mark, pattern in self._landmarks:
            if mark.console == console and pattern.search(line):
                self.phase = mark.phase
