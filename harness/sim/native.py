"""The hooks in C, compiled when they are first needed and kept in the harness's cache."""

from __future__ import annotations

import ctypes
import functools
import platform
from pathlib import Path

from harness.cache import cached_folder, content_key
from harness.errors import BuildError
from harness.processes import run_tool
from harness.zig import ZIG_CC, zig_environment, zig_version

SOURCE = Path(__file__).with_name("hooks.c")
LIBRARY = "hooks.so"
# Any processor of its kind may load it: the cache can be on a disk that several machines share.
FLAGS = ("-std=c11", "-O2", "-mcpu=baseline", "-shared", "-fPIC", "-nostdlib", "-Wall", "-Wextra", "-Werror")
TIMEOUT_SECONDS = 120.0  #: it takes one


@functools.cache
def native_hooks() -> ctypes.CDLL:
    """The library. Raises BuildError when it cannot be compiled, UsageError when it cannot be kept."""
    host = platform.system(), platform.machine()
    key = content_key(SOURCE.read_bytes(), zig_version(), *FLAGS, *host)
    return ctypes.CDLL(str(cached_folder("simulator", key, _compile) / LIBRARY))


def _compile(folder: Path) -> None:
    command = (*ZIG_CC, *FLAGS, "-o", str(folder / LIBRARY), str(SOURCE))
    try:
        done = run_tool(command, timeout_seconds=TIMEOUT_SECONDS, env=zig_environment())
    except (FileNotFoundError, TimeoutError) as error:
        raise BuildError(f"the simulator's hooks: {error}", evidence=(" ".join(command),)) from error
    if done.status != 0:
        raise BuildError(
            f"the simulator's hooks do not compile (exit status {done.status})",
            evidence=(" ".join(command), *done.tail()),
        )
