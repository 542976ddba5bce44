"""A terminal as Arm's FVPs have it: a TCP port on this host, one client at a time, bytes both ways.

Lifecycle: the port is opened, and announced by the line that harnesses look for; a command may be run that
is told the port; a client connects, takes what was sent so far and what follows, and types. When it leaves,
the next may come. Without a client the output waits.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shlex
import socket
from dataclasses import dataclass

from harness.sim import telnet

LOCALHOST = "127.0.0.1"
LAST_PORT = 65535
CHUNK = 4096
XTERM = "xterm -title %title -e telnet localhost %port"


@dataclass(frozen=True)
class TerminalSettings:
    """The parameters of one terminal; `name` is what announcements call it."""

    name: str
    start_port: int = 5000  #: first port that is tried; 0 lets the operating system choose
    start_telnet: bool = True  #: run `terminal_command`
    terminal_command: str = ""  #: empty is XTERM; %port and %title are replaced
    mode: str = "telnet"  #: or raw
    quiet: bool = False  #: no announcement
    greeting: bool = False  #: begin as telnet does, although the mode is raw
    send_buffer: int = 0  #: bytes that the kernel keeps for a client that does not read; 0 is its own choice


class Terminal:
    """One terminal, whose port is open from the start."""

    def __init__(self, settings: TerminalSettings) -> None:
        """Open the port; raises OSError when none from `start_port` on is free."""
        self.settings = settings
        self.pending = bytearray()  #: what no client has taken yet
        self.received = bytearray()  #: what was typed and not read yet
        self._listener = _listen(settings.start_port, settings.send_buffer)
        self._client: socket.socket | None = None
        self._decoder = telnet.Decoder()
        self._command: int | None = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._listener.getsockname()[1])

    @property
    def announcement(self) -> str:
        """The line that tells the port."""
        return f"{self.settings.name}: Listening for serial connection on port {self.port}"

    @property
    def connected(self) -> bool:
        """Whether there is a client."""
        return self._client is not None

    def run_command(self) -> None:
        """Run the terminal's command, which may be a viewer; raises OSError when there is no such program."""
        words = shlex.split(self.settings.terminal_command or XTERM)
        replaced = {"%port": str(self.port), "%title": self.settings.name}
        for mark, text in replaced.items():
            words = [word.replace(mark, text) for word in words]
        self._command = os.posix_spawnp(words[0], words, os.environ)

    def write(self, data: bytes) -> None:
        """Send `data`, now or when a client takes it; `service` does the sending."""
        self.pending += telnet.encode(data) if self.settings.mode == "telnet" else data

    def wait(self, seconds: float | None) -> None:
        """Wait until something can be done for the client, and do it; None waits for ever."""
        reading, writing = self.awaited()
        select.select(reading, writing, [], seconds)
        self.service()

    def awaited(self) -> tuple[list[socket.socket], list[socket.socket]]:
        """What has to become readable, and what writable, before `service` has anything to do."""
        if self._client is None:
            return [self._listener], []
        return [self._client], [self._client] if self.pending else []

    def service(self) -> None:
        """Let a client in, take what it typed, send what it takes, all without a wait."""
        if self._client is None:
            self._accept()
        if self._client is None:
            return
        try:
            self._exchange(self._client)
        except (ConnectionError, EOFError):
            self.hang_up()

    def hang_up(self) -> None:
        """Close the connection to the client, if there is one; another may come."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def close(self) -> None:
        """Close the port and hang up."""
        self._listener.close()
        self.hang_up()
        self._reap()

    def _accept(self) -> None:
        self._reap()
        with contextlib.suppress(BlockingIOError, ConnectionError):
            self._client, _ = self._listener.accept()
            self._client.setblocking(False)
            # What is written together shall not wait for more.
            self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._decoder = telnet.Decoder()
            if self.settings.mode == "telnet" or self.settings.greeting:
                self.pending[:0] = telnet.GREETING

    def _exchange(self, client: socket.socket) -> None:
        """Raises EOFError when the client has left, or the ConnectionError that says so."""
        with contextlib.suppress(BlockingIOError):
            typed = client.recv(CHUNK)
            if not typed:
                raise EOFError
            self.received += self._decoder.decode(typed) if self.settings.mode == "telnet" else typed
        with contextlib.suppress(BlockingIOError):
            while self.pending:
                del self.pending[: client.send(self.pending)]

    def _reap(self) -> None:
        if self._command is not None and os.waitpid(self._command, os.WNOHANG)[0]:
            self._command = None


def _listen(first: int, send_buffer: int) -> socket.socket:
    listener = socket.socket()
    listener.setblocking(False)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if send_buffer:  # clients inherit it, socket(7)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    for port in range(first, LAST_PORT + 1 if first else 1):
        try:
            listener.bind((LOCALHOST, port))
            listener.listen()
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                listener.close()
                raise
        else:
            return listener
    listener.close()
    raise OSError(errno.EADDRINUSE, f"no port from {first} on is free")
