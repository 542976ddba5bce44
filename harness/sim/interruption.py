"""Ends from outside: signals and the wall-clock limit, brought to where the simulation can act on them.

A signal handler only takes note, because the core's native code may be running below it. The run loop looks
at the note between two slices of guest code. Work of unknown length (an NPU job, a write to a full pipe) is
done inside `interruptible()`, where the handler raises instead.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

WALL_CLOCK = signal.SIGALRM
CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, WALL_CLOCK)


class Interrupted(Exception):
    """The simulation was told to end by `signal`."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.signal = number


class Interruption:
    """The note that a signal leaves."""

    def __init__(self) -> None:
        self._noted: signal.Signals | None = None
        self._raising = False

    @contextmanager
    def installed(
        self, wall_limit: float | None, caught: Sequence[signal.Signals] = CAUGHT
    ) -> Iterator[None]:
        """Catch the signals inside the block, and one more after `wall_limit` seconds."""
        previous = {number: signal.signal(number, self._note) for number in caught}
        if wall_limit is not None:
            signal.setitimer(signal.ITIMER_REAL, wall_limit)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in previous.items():
                signal.signal(number, handler)

    def check(self) -> None:
        """Raise Interrupted when a signal has been noted."""
        if self._noted is not None:
            raise Interrupted(self._noted)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let a signal raise Interrupted anywhere inside the block."""
        self._raising = True
        try:
            self.check()
            yield
        finally:
            self._raising = False

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._noted = signal.Signals(number)
        if self._raising:
            raise Interrupted(self._noted)
