"""Runs a model as its parent: `supervisor.py PROGRAM ARGUMENT...`, and ends as the model has ended.

A model starts other programs, and the signal by which the kernel ends a child with its parent reaches that
child alone. So this process, first in the model's process group, hears that the harness is gone, and ends the
whole group. Signals for the model go to the group; this process does not take them for its own.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

_PR_SET_PDEATHSIG = 1
_FOR_THE_MODEL = (signal.SIGINT, signal.SIGTERM)


def supervise(command: Sequence[str]) -> int:
    """Run the program to its end and return its exit status; negative for the signal that ended it."""
    harness = os.getppid()
    signal.signal(signal.SIGHUP, _end_group)
    for number in _FOR_THE_MODEL:
        signal.signal(number, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGHUP)
    if os.getppid() != harness:  # it had gone before the kernel was asked to tell
        return 1
    model = os.fork()
    if model == 0:
        for number in (signal.SIGHUP, *_FOR_THE_MODEL):
            signal.signal(number, signal.SIG_DFL)
        os.execv(command[0], list(command))  # noqa: S606  it becomes the model
    return os.waitstatus_to_exitcode(os.waitpid(model, 0)[1])


def _end_group(_number: int, _frame: FrameType | None) -> None:
    os.killpg(0, signal.SIGKILL)


def _end_as(status: int) -> None:
    """End with this status, or by this signal."""
    if status < 0:
        if -status not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    _end_as(supervise(sys.argv[1:]))
