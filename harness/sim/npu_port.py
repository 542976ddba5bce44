"""The NPU's place on the bus: register accesses, waits that cost no real time, and what is told of its jobs.

A job's results are there when the command that starts it returns; only its end lies in the future, at
`busy_until`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from harness.sim.clock import VirtualClock
from harness.sim.interruption import Interruption

STATUS = 0x0004  # Vela 5.2, ethosu/regor/architecture/ethosu85/ethos_u85_interface.hpp
SHORTEST_SKIP = 1_000  # ns
SKIP_FRACTION = 16


class Npu(Protocol):
    """What the platform needs of the NPU model."""

    @property
    def busy_until(self) -> int | None:
        """The virtual time at which the running job ends, None when idle."""

    @property
    def last_fault(self) -> object | None:
        """Why the NPU stopped last; its text is one line."""

    def read(self, offset: int) -> int:
        """Return the register at `offset`."""

    def write(self, offset: int, value: int) -> None:
        """Write the register at `offset`; a job that this starts is computed before the return."""


class PollSkipper:
    """Lets virtual time jump while the guest polls, because waiting would cost real time for nothing.

    Each poll skips a sixteenth of the time waited so far, at least a microsecond, at most to the end. A
    deadline that the guest keeps is thereby met to within that sixteenth, and a wait of a second takes about
    two hundred polls.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._first_poll: int | None = None  # when the guest began to wait

    def restart(self) -> None:
        """Take the next poll as the first of a new wait."""
        self._first_poll = None

    def poll(self, end: int | None) -> None:
        """Skip ahead in a wait that is over at `end`; None is a wait without end."""
        now = self._clock.now()
        if end is not None and now >= end:
            return
        if self._first_poll is None:
            self._first_poll = now
        step = max(SHORTEST_SKIP, (now - self._first_poll) // SKIP_FRACTION)
        self._clock.skip(step if end is None else min(step, end - now))


class NpuPort:
    """The NPU behind its register window."""

    def __init__(
        self, npu: Npu, clock: VirtualClock, interruption: Interruption, report: Callable[[str], None]
    ) -> None:
        self._npu = npu
        self._clock = clock
        self._skipper = PollSkipper(clock)
        self._interruption = interruption
        self._report = report
        self._job_end: int | None = None
        self.jobs = 0
        self.cycles = 0  #: of all jobs

    @property
    def busy_until(self) -> int | None:
        """The virtual time at which the running job ends, None when idle."""
        return self._npu.busy_until

    def read(self, offset: int) -> int:
        """Return a register."""
        if offset == STATUS and self._npu.busy_until is not None:
            self._skipper.poll(self._npu.busy_until)
        return self._npu.read(offset)

    def write(self, offset: int, value: int) -> None:
        """Write a register; a job that this starts is computed here. Raises Interrupted when told to end."""
        fault = self._npu.last_fault
        started = self._clock.now()
        with self._interruption.interruptible():
            self._npu.write(offset, value)
        if self._npu.last_fault is not None and self._npu.last_fault is not fault:
            self._report(f"Warning: Ethos-U85: {self._npu.last_fault}")
        if self._npu.busy_until is not None and self._npu.busy_until != self._job_end:
            self._job_end = self._npu.busy_until
            self._skipper.restart()
            self.jobs += 1
            self.cycles += self._job_end - started
