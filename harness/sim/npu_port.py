"""The NPU's place on the bus: register accesses, waits that cost no real time, and what is told of its jobs.

A job's results are there when the command that starts it returns; only its end lies in the future, at
`busy_until`. Polling STATUS until then would cost real time for nothing, so each poll skips ahead: by a
sixteenth of the time waited so far, at least a microsecond, at most to the end. A deadline that the guest
keeps is thereby met to within that sixteenth, and a wait of a second takes about two hundred polls.
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


class NpuPort:
    """The NPU behind its register window."""

    def __init__(
        self, npu: Npu, clock: VirtualClock, interruption: Interruption, report: Callable[[str], None]
    ) -> None:
        self._npu = npu
        self._clock = clock
        self._interruption = interruption
        self._report = report
        self._job_end: int | None = None
        self._first_poll: int | None = None  # when the guest began to wait for the running job
        self.jobs = 0
        self.cycles = 0  #: of all jobs

    def read(self, offset: int) -> int:
        """Return a register."""
        if offset == STATUS:
            self._skip_wait()
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
            self._first_poll = None
            self.jobs += 1
            self.cycles += self._job_end - started

    def _skip_wait(self) -> None:
        now = self._clock.now()
        if self._npu.busy_until is None or now >= self._npu.busy_until:
            return
        if self._first_poll is None:
            self._first_poll = now
        step = max(SHORTEST_SKIP, (now - self._first_poll) // SKIP_FRACTION)
        self._clock.skip(min(step, self._npu.busy_until - now))
