"""A program's console as a channel: what it prints, as it comes, with a deadline on every wait."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import pexpect
from pexpect.fdpexpect import fdspawn

from harness.errors import BoardError
from harness.processes import Interrupted, Process, interrupted, terminate

# One pattern a line: bounded, so that a console without line ends cannot make the match slow.
_LINE = rb"[^\n]{0,4096}\n"


class Channel:
    """The console of a running program.

    1. `open_channel` starts the program; 2. `lines` yields what it prints until it ends;
    3. leaving the block stops whatever still runs.
    """

    def __init__(self, process: Process, command: Sequence[str]) -> None:
        self._process = process
        self._command = tuple(command)
        self._log = io.BytesIO()
        self._console = fdspawn(process.stdout, maxread=65536)
        self._console.logfile_read = self._log

    @property
    def log(self) -> bytes:
        """Everything the console has printed so far."""
        return self._log.getvalue()

    @property
    def status(self) -> int:
        """The program's exit status once `lines` has ended; negative when a signal ended it."""
        return self._process.wait()

    def lines(self, *, first_within: float, all_within: float) -> Iterator[bytes]:
        """Lines until the program closes its console.

        Raises BoardError when none came within `first_within` seconds, or no end within `all_within` more.
        """
        deadline = time.monotonic() + first_within
        seen = 0
        while True:
            try:
                found = self._console.expect(
                    [_LINE, pexpect.EOF], timeout=max(0.0, deadline - time.monotonic())
                )
            except pexpect.TIMEOUT:
                raise self._timed_out(seen, first_within, all_within) from None
            if interrupted():
                raise Interrupted
            if found == 1:
                return
            if seen == 0:
                deadline = time.monotonic() + all_within
            seen += 1
            yield self._console.after

    def _timed_out(self, seen: int, first_within: float, all_within: float) -> BoardError:
        waited = (
            f"went on for more than {all_within:g} s" if seen else f"printed nothing for {first_within:g} s"
        )
        return BoardError(
            f"the board {waited}",
            hint="raise the timeout in the board file, or run the command by hand",
            evidence=(" ".join(self._command), *self.tail()),
        )

    def tail(self, lines: int = 5) -> tuple[str, ...]:
        """The last non-empty lines of the console."""
        text = self.log.decode("ascii", errors="backslashreplace")
        return tuple(line.strip("\r") for line in text.split("\n") if line.strip())[-lines:]


@contextmanager
def open_channel(
    program: AbstractContextManager[Process], command: Sequence[str], *, stop_seconds: float
) -> Iterator[Channel]:
    """Start a program and attach to its console; on leaving, end and reap it.

    `command` names the program where something went wrong. What still runs when the block is left is asked
    to terminate, and killed after `stop_seconds`.
    """
    with program as process:
        try:
            yield Channel(process, command)
        finally:
            terminate(process, within_seconds=stop_seconds)
