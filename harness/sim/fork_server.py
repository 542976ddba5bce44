"""A simulator that is loaded once and forked for every run.

Loading numpy, Unicorn and the NPU model takes longer than a small run does. This process loads them and
waits at a socket, its standard input. A request is a JSON list, the folder to run in and then the arguments,
with two descriptors: the console, and a pipe. For each a copy of the process becomes the simulator, in a
process group of its own, and does from there on what the program `harness-sim` does. Two numbers come back
through the pipe, each as PIPE_NUMBER: the copy's process id, and its end as waitpid() says it. When the
other end of the socket is closed the server ends, and with it all that still runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import selectors
import signal
import socket
import struct
import sys
import traceback
from typing import NoReturn

from harness.sim.main import load_simulation, main

PIPE_NUMBER = struct.Struct("=i")
REQUEST_BYTES = 1 << 17  #: most bytes of a request; the socket keeps each in one piece
PR_SET_PDEATHSIG = 1  # of Linux's prctl(2)


def serve(requests: socket.socket) -> None:
    """Answer requests until the other end is closed."""
    load_simulation()
    gc.freeze()  # a copy whose collector touches no page of what was loaded shares it all
    with selectors.DefaultSelector() as selector:
        selector.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.data is not None:
                    selector.unregister(key.fd)
                    _report_end(key.fd, *key.data)
                    continue
                message, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 2)
                if not message:
                    return
                folder, *arguments = json.loads(message)
                console, pipe = descriptors
                server = os.getpid()
                child = os.fork()
                if child == 0:
                    _become_simulator(server, folder, arguments, console)
                os.setpgid(child, child)
                os.close(console)
                selector.register(os.pidfd_open(child), selectors.EVENT_READ, (child, pipe))
                _tell(pipe, child)


def _report_end(watch: int, child: int, pipe: int) -> None:
    _, status = os.waitpid(child, 0)
    _tell(pipe, status)
    os.close(watch)
    os.close(pipe)


def _tell(pipe: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # nobody asks any more
        os.write(pipe, PIPE_NUMBER.pack(number))


def _become_simulator(server: int, folder: str, arguments: list[str], console: int) -> NoReturn:
    """Run the simulator in this copy of the server, and end with its exit code."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:  # it died before it could take this copy along
            os.kill(os.getpid(), signal.SIGKILL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
        os.dup2(console, sys.stdout.fileno())
        os.dup2(console, sys.stderr.fileno())
        os.chdir(folder)
        code = main(arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=sys.stdin.fileno()))
