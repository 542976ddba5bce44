"""A console as a channel: what it prints, as it comes, and what is typed, with a deadline on every wait."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO

import pexpect
from pexpect.fdpexpect import fdspawn
from pexpect.socket_pexpect import SocketSpawn
from pexpect.spawnbase import SpawnBase

from harness.console.journal import Journal
from harness.console.protocol import END_OF_TRANSMISSION
from harness.console.text import without_telnet
from harness.errors import BoardError
from harness.processes import Interrupted, interrupted

# One pattern a line: bounded, so that a console without line ends cannot make the match slow.
_LINE = rb"[^\n]{0,4096}\n"
_CHUNK = 65536
_TIMEOUT_HINT = "raise the timeout in the board file, or run the command by hand"
_WATCH_SECONDS = 0.1  #: how often a wait looks whether something else has happened


class ClosedError(BoardError):
    """A console was closed while something was still to come."""


class Channel:
    """One console of a running board. Everything it prints goes into the journal under its name.

    `watch` is called while a channel waits, and raises what makes further waiting useless.
    """

    def __init__(
        self, name: str, spawn: SpawnBase, journal: Journal, watch: Callable[[], None] | None = None
    ) -> None:
        """Take over the console; `stdout_channel` and `socket_channel` are the usual ways to make one."""
        self.name = name
        self._spawn = spawn
        self._journal = journal
        self._watch = watch
        spawn.logfile_read = journal.writer(name)

    def lines(
        self, *, first_within: float, all_within: float, ends_with_eot: bool = False
    ) -> Iterator[bytes]:
        """Lines until the console is closed, or until the firmware's last byte where nothing follows that.

        Raises BoardError when none came within `first_within` seconds, or no end within `all_within` more.
        """
        deadline = time.monotonic() + first_within
        waited = f"printed nothing for {first_within:g} s"
        seen = 0
        ends = [pexpect.EOF, END_OF_TRANSMISSION] if ends_with_eot else [pexpect.EOF]
        while self._expect([*ends, _LINE], deadline, waited) == len(ends):
            if seen == 0:
                deadline = time.monotonic() + all_within
                waited = f"went on for more than {all_within:g} s"
            seen += 1
            yield self._spawn.after

    def wait_for(self, *texts: bytes, within: float, what: str, hint: str = _TIMEOUT_HINT) -> int:
        """Wait for one of some regular expressions; returns which. `what` and `hint` are said if none comes.

        Raises BoardError when it does not come within this many seconds, or the console is closed before.
        """
        patterns = [*texts, pexpect.EOF]
        waited = f"did not show {what} within {within:g} s"
        found = self._expect(patterns, time.monotonic() + within, waited, hint)
        if found == len(texts):
            raise ClosedError(
                f"the board's {self.name} console was closed before it showed {what}",
                evidence=self._journal.tail(),
            )
        return found

    @property
    def before(self) -> bytes:
        """What came before the text that was last waited for."""
        return bytes(self._spawn.before)

    def send(self, text: str, character_delay: float = 0.0) -> None:
        """Type, with a pause of this many seconds after each character where the console is slow."""
        for part in text if character_delay else (text,):
            try:
                self._spawn.send(part.encode())
            except OSError as error:
                raise BoardError(
                    f"the board's {self.name} console takes no input: {error.strerror}",
                    evidence=self._journal.tail(),
                ) from error
            time.sleep(character_delay)

    def drain(self) -> None:
        """Read, for the journal alone, until the console is closed."""
        try:
            while True:
                self._spawn.read_nonblocking(_CHUNK, None)
        except (pexpect.EOF, OSError, ValueError):
            return

    def close(self) -> None:
        """Leave the console. Doing so again does nothing."""
        self._spawn.close()

    def _expect(
        self,
        patterns: Sequence[bytes | type[pexpect.EOF]],
        deadline: float,
        waited: str,
        hint: str = _TIMEOUT_HINT,
    ) -> int:
        while True:
            left = max(0.0, deadline - time.monotonic())
            try:
                found = self._spawn.expect(
                    list(patterns), timeout=left if self._watch is None else min(left, _WATCH_SECONDS)
                )
            except pexpect.TIMEOUT:
                found = None
            if interrupted():
                raise Interrupted
            if self._watch is not None:
                self._watch()
            if found is not None:
                return int(found)
            if time.monotonic() >= deadline:
                raise BoardError(
                    f"the board {waited}",
                    hint=hint,
                    evidence=self._journal.tail(),
                )


def stdout_channel(name: str, stdout: IO[bytes] | None, journal: Journal) -> Channel:
    """The console that is a program's standard output."""
    return Channel(name, fdspawn(stdout, maxread=_CHUNK), journal)


def socket_channel(
    name: str, port: int, journal: Journal, watch: Callable[[], None] | None = None
) -> Channel:
    """A console that a program offers on a port of this machine. Raises OSError when nobody is there."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    return Channel(name, _Socket(connection, maxread=_CHUNK), journal, watch)


class _Socket(SocketSpawn):  # type: ignore[misc]  # pexpect has no types
    """pexpect's, but what is read goes into the log, and whoever has gone already is no error."""

    _unfinished = b""

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.child_fd = -1
        self.closed = True

    def read_nonblocking(self, size: int = 1, timeout: float | None = -1) -> bytes:
        try:
            data = super().read_nonblocking(size, timeout)
        except BlockingIOError:
            raise pexpect.TIMEOUT("nothing to read") from None
        except ConnectionResetError:
            self.flag_eof = True
            raise pexpect.EOF("connection reset") from None
        self._log(data, "read")
        # Telnet's commands must not cut what is waited for.
        text, self._unfinished = without_telnet(self._unfinished + data)
        return text
