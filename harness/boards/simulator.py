"""The built-in simulator as a program: started like any board's, or forked from one that is loaded already.

Both run the same simulator with the same command line. A fork saves loading it, which is most of a small
run. Where the platform cannot watch a process that is not its child, every run starts the program.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import BinaryIO

from harness.errors import BoardError
from harness.processes import Process, running, started
from harness.sim.fork_server import PIPE_NUMBER

# This interpreter's, so that no other's can be meant; nor is a module (-P) that lies in the user's folder.
_MODULE = (sys.executable, "-P", "-m")
PROGRAM = (*_MODULE, "harness.sim")
_SERVER = (*_MODULE, "harness.sim.fork_server")


def start_simulator(arguments: Sequence[str]) -> AbstractContextManager[Process]:
    """A simulator that runs with these arguments, and is dead when the block is left."""
    if not hasattr(os, "pidfd_open"):
        return started((*PROGRAM, *arguments), stderr=subprocess.STDOUT)
    return running(partial(_server.fork, arguments))


class ForkedSimulator:
    """A run that the server forked: what of `subprocess.Popen` a board needs."""

    def __init__(self, console: BinaryIO, pipe: int) -> None:
        """Take over the reading ends of both; raises EOFError when the run did not come to life."""
        self.stdout = console
        self._pipe = pipe
        self._status: int | None = None
        try:
            self.pid = self._number()
        except EOFError:
            self._close()
            raise

    def poll(self) -> int | None:
        """The exit status when it has ended: negative for the signal that ended it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self._status

    def wait(self, timeout: float | None = None) -> int:
        """The exit status once it has ended; raises subprocess.TimeoutExpired after `timeout` seconds."""
        if self._status is None:
            if not select.select([self._pipe], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(PROGRAM, timeout or 0)
            try:
                self._status = os.waitstatus_to_exitcode(self._number())
            except EOFError:  # the server is gone, and takes what it forked with it
                self._status = -signal.SIGKILL
            os.close(self._pipe)
        return self._status

    def _number(self) -> int:
        data = os.read(self._pipe, PIPE_NUMBER.size)
        if len(data) < PIPE_NUMBER.size:
            raise EOFError
        return int(PIPE_NUMBER.unpack(data)[0])

    def _close(self) -> None:
        self.stdout.close()
        os.close(self._pipe)


class _Server:
    """The process that forks: started when it is first needed, and anew should it be gone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._resources = ExitStack()
        self._requests: socket.socket | None = None

    def fork(self, arguments: Sequence[str]) -> ForkedSimulator:
        """Start a run; raises BoardError when the server does not come up."""
        with self._lock:
            for _ in ("the one that may have been killed since its last run", "a new one"):
                try:
                    return self._fork(self._requests or self._start(), arguments)
                except (OSError, EOFError):
                    self.stop()
        raise BoardError("the simulator does not start", hint="run `harness doctor` to see what is missing")

    def stop(self) -> None:
        """End the server and all that it has forked."""
        self._requests = None
        self._resources.close()

    def _fork(self, requests: socket.socket, arguments: Sequence[str]) -> ForkedSimulator:
        request = json.dumps([str(Path.cwd()), *arguments]).encode()
        console, console_end = os.pipe()
        pipe, pipe_end = os.pipe()
        try:
            socket.send_fds(requests, [request], [console_end, pipe_end])
        except OSError:
            os.close(console)
            os.close(pipe)
            raise
        finally:
            os.close(console_end)
            os.close(pipe_end)
        return ForkedSimulator(os.fdopen(console, "rb", buffering=0), pipe)

    def _start(self) -> socket.socket:
        ours, servers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with servers:
            self._resources.enter_context(started(_SERVER, stdin=servers.fileno(), stderr=subprocess.STDOUT))
        self._requests = self._resources.enter_context(ours)
        return ours


_server = _Server()
atexit.register(_server.stop)
