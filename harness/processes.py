"""The door to other programs: every process the harness starts is started, watched and ended here.

Each runs in a session of its own, so that ending it ends whatever it started, and asks the kernel to be
killed when its parent dies, so that none is left behind.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, TypeVar

# The child sets PR_SET_PDEATHSIG (1) to SIGKILL on itself and then becomes the wanted program. A `preexec_fn`
# would do the same, but is unsafe in a process that has threads. macOS has no such call and goes without.
_GUARD = (
    "import ctypes, os, sys\n"
    "if sys.platform == 'linux': ctypes.CDLL(None).prctl(1, 9)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])\n"
)


class Process(Protocol):
    """A program that runs, or ran: what of `subprocess.Popen` is needed to watch and to end it.

    Its process id is also that of its process group.
    """

    @property
    def pid(self) -> int:
        """Its process id."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """The reading end of what it prints."""

    def poll(self) -> int | None:
        """The exit status, once it has ended; negative when a signal ended it."""

    def wait(self, timeout: float | None = None) -> int:
        """The exit status; raises subprocess.TimeoutExpired when it has not ended after `timeout` seconds."""


_live: set[Process] = set()
_lock = threading.Lock()
_interrupted = threading.Event()


class Interrupted(BaseException):
    """The user stopped the harness while this thread waited for, or was about to start, a program."""


P = TypeVar("P", bound="Process")


@dataclass(frozen=True)
class Finished:
    """A program that has ended. A negative `status` is the signal that ended it."""

    command: tuple[str, ...]
    status: int
    output: str  #: standard output and standard error, as they came

    def tail(self, lines: int = 12) -> tuple[str, ...]:
        """The last non-empty lines of its output."""
        return tuple(line for line in self.output.splitlines() if line.strip())[-lines:]


def run_tool(
    command: Sequence[str],
    *,
    timeout_seconds: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Run a program to its end and return what it printed.

    Raises FileNotFoundError when there is no such program and TimeoutError when it did not end in time.
    """
    with started(command, cwd=cwd, env=env, stderr=subprocess.STDOUT) as process:
        try:
            output, _ = process.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{command[0]} did not end within {timeout_seconds:g} s") from None
    if _interrupted.is_set():
        raise Interrupted
    return Finished(tuple(command), process.returncode, output.decode(errors="replace"))


@contextlib.contextmanager
def started(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int = subprocess.DEVNULL,
    stderr: int | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A running program, which is dead and reaped when the block is left, however it is left."""

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _GUARD, _executable(command[0], env), *command[1:]],
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )

    with running(start) as process:
        yield process


@contextlib.contextmanager
def running(start: Callable[[], P]) -> Iterator[P]:
    """What `start` returns, which is dead and reaped when the block is left, however it is left."""
    if _interrupted.is_set():
        raise Interrupted
    process = start()
    with _lock:
        _live.add(process)
    try:
        yield process
    finally:
        kill_group(process, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        with _lock:
            _live.discard(process)


def terminate(
    process: Process, *, within_seconds: float, signals: Sequence[signal.Signals] = (signal.SIGTERM,)
) -> None:
    """Ask a process that may still run to end, by one signal after the other, each with its time.

    What has not ended then is left to be killed.
    """
    for signum in signals:
        if process.poll() is None:
            kill_group(process, signum)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(within_seconds)


def kill_group(process: Process, signum: signal.Signals) -> None:
    """Send a signal to a process and to all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signum)


@contextlib.contextmanager
def program_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that wait for programs; an exception in the block, Ctrl-C above all, ends the programs too."""
    with ThreadPoolExecutor(max_workers=count) as threads:
        try:
            yield threads
        except BaseException:
            interrupt_all()
            threads.shutdown(cancel_futures=True)
            raise


def interrupt_all() -> None:
    """End every program that is running, and refuse to start another: the user wants to stop."""
    _interrupted.set()
    with _lock:
        for process in _live:
            kill_group(process, signal.SIGKILL)


def interrupted() -> bool:
    """Whether the user has asked to stop."""
    return _interrupted.is_set()


def _executable(name: str, env: Mapping[str, str] | None) -> str:
    """The program's path; found here because the guard can no longer say that it is missing."""
    found = shutil.which(name, path=None if env is None else env.get("PATH"))
    if found is None:
        raise FileNotFoundError(f"no program {name!r}")
    return found
