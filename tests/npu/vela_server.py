"""Vela for hundreds of networks: a process that has loaded it once forks for each compilation.

    python vela_server.py serve SOCKET        compiles until its standard input ends
    python vela_server.py ask SOCKET ...      does what `python -m ethosu.vela ...` does

A compilation gets the folder and the output of the process that asks, and may crash without harm to others.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

# Whoever asks is started once for each compilation: what only the server needs is imported there.

_REQUEST_BYTES = 1 << 16
_STATUS_BYTES = 4
_SEPARATOR = "\0"


def serve(path: str) -> None:
    """Fork for each connection, until standard input ends."""
    import gc
    import selectors

    from ethosu.vela import vela

    gc.freeze()  # a child that collects garbage would copy what it shares with the server
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as waiting:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)  # noqa: T201 - what the parent waits for
        waiting.register(listener, selectors.EVENT_READ)
        waiting.register(sys.stdin, selectors.EVENT_READ)
        while sys.stdin not in [key.fileobj for key, _ in waiting.select()]:
            connection, _ = listener.accept()
            with connection:
                status = _compile(connection, vela.main)
                connection.sendall(status.to_bytes(_STATUS_BYTES, "little", signed=True))


def _compile(connection: socket.socket, compiler) -> int:
    """Run one compilation; return its exit status, negative for a signal."""
    request, outputs, _, _ = socket.recv_fds(connection, _REQUEST_BYTES, 2)
    folder, *arguments = request.decode().split(_SEPARATOR)
    child = os.fork()
    if child == 0:
        _become_compiler(folder, arguments, outputs, compiler)
    for output in outputs:
        os.close(output)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _become_compiler(folder: str, arguments: list[str], outputs: list[int], compiler) -> None:
    import traceback

    status = 1
    try:
        for output, standard in zip(outputs, (1, 2), strict=True):
            os.dup2(output, standard)
        os.chdir(folder)
        status = compiler(arguments) or 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def ask(path: str, arguments: list[str]) -> None:
    """Have the server compile; end as the compilation ended."""
    request = _SEPARATOR.join([os.getcwd(), *arguments])  # noqa: PTH109 - pathlib takes 10 ms to import
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [request.encode()], [1, 2])
        status = int.from_bytes(connection.recv(_STATUS_BYTES), "little", signed=True)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        ask(sys.argv[2], sys.argv[3:])
