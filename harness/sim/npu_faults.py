"""Faults of the NPU on request: one job, chosen by its number, goes wrong in a chosen way.

The faults sit around an NPU that knows nothing of them. Two make an access in the middle of the stream fail,
so that what was computed before is in memory; the others change when the job starts, or what STATUS shows.

The end of a simulation says whether the fault came to happen, in a line that a program can read:

    harness-sim: npu-fault kind=hang job=2 happened=yes
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.sim.clock import VirtualClock
from harness.sim.ending import GuestFatal
from harness.sim.npu import Access, BusFault, CommandError
from harness.sim.npu_port import STATUS, NpuPort, PollSkipper
from harness.sim.parameters import NpuFault

# Vela 5.2, ethosu/regor/architecture/ethosu85/ethos_u85_interface.hpp
CMD, RESET = 0x08, 0x0C
CMD_RUN = 1
STATUS_RUNNING = 1


class PlannedFault:
    """What goes wrong with one job."""

    def __init__(self, kind: NpuFault, job: int, delay: int) -> None:
        """Plan it for the job that `job` writes of CMD.run precede; a late one is `delay` ns late."""
        self.kind = kind
        self.job = job
        self.delay = delay
        self.happened = False
        self._middle = 0  # of the stream that runs, in bytes
        self._armed = False

    def __str__(self) -> str:
        happened = "yes" if self.happened else "no"
        return f"harness-sim: npu-fault kind={self.kind} job={self.job} happened={happened}"

    def watch(self, access: Access) -> None:
        """Hear of an access by the NPU, and raise what it meets instead: BusFault or CommandError."""
        if access.opcode == "QBASE":
            self._middle = access.size // 2
        elif self._armed and access.offset >= self._middle:
            self._armed = False
            if self.kind is NpuFault.BUS_ERROR:
                raise BusFault(access.address, access.size)
            raise CommandError("a fault was injected")

    @contextmanager
    def breaking_the_stream(self) -> Iterator[None]:
        """Let one access fail inside the block: the first by an operation in the second half of the stream.

        Raises GuestFatal when there is none.
        """
        self._armed = True
        yield
        if self._armed:
            raise GuestFatal(
                f"nothing in the second half of job {self.job} accesses memory, so nothing failed"
            )


class FaultyNpu:
    """The NPU's register window, with one fault to come.

    A job that hangs or is late is held back: STATUS says that it runs, and memory does not change. A late job
    is started by the first access after its delay, so what it writes is written late too. A lost completion
    is a job that ran, whose end STATUS does not show. All three take no other job, and end with a reset.
    """

    def __init__(self, port: NpuPort, fault: PlannedFault, clock: VirtualClock) -> None:
        self._port = port
        self._fault = fault
        self._clock = clock
        self._skipper = PollSkipper(clock)
        self._runs = 0
        self._held: int | None = None  # the CMD that was held back
        self._release: int | None = None  # when it goes on, None for never
        self._lost = False

    def read(self, offset: int) -> int:
        """Return a register."""
        if offset == STATUS and self._seems_busy:
            self._skipper.poll(self._release)
        self._let_go()
        value = self._port.read(offset)
        return STATUS_RUNNING if offset == STATUS and self._seems_busy else value

    def write(self, offset: int, value: int) -> None:
        """Write a register. Raises GuestFatal when a stream gave no occasion for the fault."""
        self._let_go()
        if offset == RESET:
            self._held = None
            self._lost = False
        if offset != CMD or not value & CMD_RUN:
            self._port.write(offset, value)
            return
        chosen = self._runs == self._fault.job
        self._runs += 1
        if chosen:
            self._fail(value)
        elif not self._seems_busy:
            self._port.write(CMD, value)

    @property
    def _seems_busy(self) -> bool:
        return self._held is not None or self._lost

    def _fail(self, command: int) -> None:
        self._fault.happened = True
        match self._fault.kind:
            case NpuFault.HANG | NpuFault.LATE:
                self._held = command
                late = self._fault.kind is NpuFault.LATE
                self._release = self._clock.now() + self._fault.delay if late else None
            case NpuFault.LOST_COMPLETION:
                self._port.write(CMD, command)
                self._lost = True
            case NpuFault.EARLY:
                self._port.write(CMD, command)
                if self._port.busy_until is not None:
                    self._clock.skip(self._port.busy_until - self._clock.now())
            case _:
                with self._fault.breaking_the_stream():
                    self._port.write(CMD, command)

    def _let_go(self) -> None:
        if self._held is not None and self._release is not None and self._clock.now() >= self._release:
            command, self._held = self._held, None
            self._port.write(CMD, command)
