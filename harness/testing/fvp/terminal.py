"""A terminal: a UART's two directions on a TCP port, announced on standard output or by a call back."""

from __future__ import annotations

import contextlib
import queue
import socket
import subprocess
import threading

from harness.testing.fvp.output import say
from harness.testing.fvp.parameters import Values
from harness.testing.mock_fvp import Description
from harness.testing.symptoms import Symptom

_NEGOTIATION = b"\xff\xfb\x01\xff\xfb\x03\xff\xfd\x18"  #: WILL ECHO, WILL SUPPRESS-GO-AHEAD, DO TERMINAL-TYPE


class Terminal:
    """One of the model's terminals. What is sent before somebody has connected waits for him."""

    def __init__(self, path: str, description: Description, values: Values) -> None:
        """Listen on the port that the parameters ask for, or on the next one that is free."""
        self.path = path
        self.name = path.rsplit(".", 1)[-1]
        self._description = description
        self._values = values
        self._server = _listen(values.number(f"{path}.start_port"))
        self._client: socket.socket | None = None
        self._typed: queue.Queue[bytes] = queue.Queue()
        self._lock = threading.Lock()
        self._waiting = b""
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.getsockname()[1])

    @property
    def is_connected(self) -> bool:
        """Whether somebody has connected."""
        return self._client is not None

    def call_back(self) -> None:
        """Run the terminal command, or complain like the xterm that would run without one."""
        if not self._values.is_set(f"{self.path}.start_telnet"):
            return
        if command := self._values.text(f"{self.path}.terminal_command"):
            command = command.replace("%port", str(self.port)).replace("%title", self.name)
            subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL)
        else:
            say("xterm: Xt error: Can't open display:")

    def send(self, text: str | bytes) -> None:
        """Send output of the guest; blocks while the client does not read."""
        data = text.encode() if isinstance(text, str) else text
        with self._lock:
            if self._client is None:
                self._waiting += data
                return
            client = self._client
        with contextlib.suppress(OSError):
            for piece in self._pieces(data):
                client.sendall(piece)

    def read_key(self, timeout: float | None = None) -> bytes | None:
        """Return the next byte that was typed; None when there was none in time."""
        try:
            return self._typed.get(timeout=timeout)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Close the connection, and the port."""
        with contextlib.suppress(OSError):
            if self._client is not None:
                self._client.shutdown(socket.SHUT_WR)
                self._client.close()
        self._server.close()

    def _serve(self) -> None:
        try:
            client, _ = self._server.accept()
        except OSError:
            return
        greeting = _NEGOTIATION if self._description.has(Symptom.TELNET_BYTES) else b""
        with self._lock:
            with contextlib.suppress(OSError):
                client.sendall(greeting + self._waiting)
            self._client = client
        while data := _receive(client):
            keys = [data[i : i + 1] for i in range(len(data))]
            for key in keys[:1] if self._description.has(Symptom.SLOW_CONSOLE) else keys:
                self._typed.put(key)

    def _pieces(self, data: bytes) -> list[bytes]:
        if not self._description.has(Symptom.SPLIT_UTF8):
            return [data]
        return [data[i : i + 3] for i in range(0, len(data), 3)] if len(data) < 200 else [data[:1], data[1:]]


def _receive(client: socket.socket) -> bytes:
    try:
        return client.recv(4096)
    except OSError:
        return b""


def _listen(first: int) -> socket.socket:
    """A listening socket on the first port that is free from here on; 0 lets the host choose."""
    for port in range(first, first + 1000) if first else (0,):
        server = socket.socket()
        try:
            server.bind(("127.0.0.1", port))
        except OSError:
            server.close()
            continue
        server.listen(1)
        return server
    raise OSError(f"no free port from {first} on")
