"""A command that stands for Vela's, without Vela's start-up time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = Path(__file__).with_name("vela_server.py")


@contextmanager
def forking_vela(folder: Path) -> Iterator[tuple[str, ...]]:
    """Start the server, its socket in `folder`, and give the command that stands for Vela's."""
    path = str(folder / "vela.socket")
    command = [sys.executable, str(SERVER), "serve", path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        try:
            if server.stdout.readline() != b"ready\n":
                raise RuntimeError(f"{' '.join(command)} did not start")
            # -I and -S leave out what the asking process has no use for: 10 ms of each start.
            yield (sys.executable, "-I", "-S", str(SERVER), "ask", path)
        finally:
            server.stdin.close()
            server.wait(timeout=60)
