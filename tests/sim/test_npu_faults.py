"""Faults that are asked for happen to the chosen job, and to no other."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from harness.sim.clock import VirtualClock
from harness.sim.ending import GuestFatal
from harness.sim.interruption import Interruption
from harness.sim.memory import PhysicalMemory, Window, make_ram
from harness.sim.npu import EthosU85, NpuConfig
from harness.sim.npu_faults import FaultyNpu, PlannedFault
from harness.sim.npu_port import NpuPort
from harness.sim.parameters import NpuFault

STATUS, CMD, RESET, QBASE, QREAD, QSIZE = 0x04, 0x08, 0x0C, 0x10, 0x18, 0x20
PMCR, PMCNTENSET, PMCCNTR = 0x1180, 0x1184, 0x11A0  # Vela 5.2, ethos_u85_interface.hpp
RUN, CLEAR_IRQ = 1, 2
RUNNING, IRQ_RAISED, BUS_FAULT, PARSE_ERROR, END_REACHED = 1, 1 << 1, 1 << 2, 1 << 4, 1 << 5
SECOND = 1_000_000_000
DELAY = SECOND // 100

STREAM, SOURCE, FIRST, LATER = 0x0, 0x10000, 0x20000, 0x30000
SIZE = 0x8000
START, STOP = 0x10, 0xFFFF_0000


def copy(target: int) -> list[int]:
    return [0x130, 0x131, 0x4030, SOURCE, 0x4031, target, 0x4032, SIZE, START]


TWO_COPIES = [*copy(FIRST), *copy(LATER), STOP]
SECOND_START = 4 * (2 * len(copy(0)) - 1)


class Board:
    """An NPU with a planned fault, memory and a clock that goes on by itself with every access."""

    def __init__(self, kind: NpuFault, job: int, stream: list[int]) -> None:
        self.reports: list[str] = []
        self.memory = PhysicalMemory((make_ram(Window("RAM", 0, 0x40000), fill=0, cached=False),))
        self.memory.load(STREAM, np.array(stream, "<u4").tobytes(), "stream")
        self.memory.load(SOURCE, bytes(range(256)) * (SIZE // 256), "source")
        self.retired = SimpleNamespace(retired=0)
        self.clock = VirtualClock(self.retired)
        self.fault = PlannedFault(kind, job, DELAY)
        npu = EthosU85(NpuConfig(256), self.memory, self.clock.now, [self.fault.watch])
        port = NpuPort(npu, self.clock, Interruption(), self.reports.append)
        self.npu = FaultyNpu(port, self.fault, self.clock)
        self.length = 4 * len(stream)

    def run(self) -> None:
        for register, value in {
            QBASE: STREAM,
            QSIZE: self.length,
            PMCNTENSET: 1 << 31,
            PMCR: 0b11,
            CMD: RUN,
        }.items():
            self.write(register, value)

    def write(self, register: int, value: int) -> None:
        self.retired.retired += 10
        self.npu.write(register, value)

    def read(self, register: int) -> int:
        self.retired.retired += 10
        return self.npu.read(register)

    def status(self) -> int:
        return self.read(STATUS) & 0xFFFF

    def wait(self, within: int = SECOND) -> int | None:
        """Return STATUS when the NPU no longer runs, None when it still does."""
        deadline = self.clock.now() + within
        while self.clock.now() < deadline:
            if not (status := self.status()) & RUNNING:
                return status
        return None

    def copied(self, target: int) -> bool:
        return bool(np.array_equal(self.memory.view(target, SIZE), self.memory.view(SOURCE, SIZE)))

    def recovers(self) -> bool:
        """Whether the next job after a reset is right."""
        self.write(RESET, 0)
        self.memory.view(FIRST, 2 * (LATER - FIRST))[:] = 0
        self.run()
        ended = self.wait() == IRQ_RAISED | END_REACHED
        return ended and self.copied(FIRST) and self.copied(LATER)


@pytest.fixture
def board():
    def build(kind: NpuFault, job: int = 0, stream: list[int] = TWO_COPIES) -> Board:
        return Board(kind, job, stream)

    return build


@pytest.mark.parametrize(
    ("kind", "bit"), [(NpuFault.STATUS_ERROR, PARSE_ERROR), (NpuFault.BUS_ERROR, BUS_FAULT)]
)
def test_a_stream_that_breaks_has_done_its_first_half(board, kind, bit):
    broken = board(kind)
    broken.run()
    status = broken.wait()
    assert status & (BUS_FAULT | PARSE_ERROR | END_REACHED | IRQ_RAISED) == bit | IRQ_RAISED
    assert broken.read(QREAD) == SECOND_START
    assert (broken.copied(FIRST), broken.copied(LATER)) == (True, False)
    assert "fault at stream offset" in broken.reports[0]
    assert broken.recovers()


def test_a_stream_without_an_access_in_its_second_half_is_a_named_end(board):
    padded = [*copy(FIRST), *[0x130] * 20, STOP]
    with pytest.raises(GuestFatal, match="second half"):
        board(NpuFault.BUS_ERROR, stream=padded).run()


def test_a_job_that_hangs_never_ends_and_writes_nothing(board):
    hanging = board(NpuFault.HANG)
    hanging.run()
    assert hanging.wait(60 * SECOND) is None
    assert not hanging.copied(FIRST)
    assert hanging.recovers()


def test_a_late_job_writes_and_ends_late(board):
    late, usual = board(NpuFault.LATE), board(NpuFault.LATE, job=1)
    for each in (late, usual):
        each.run()
    assert late.wait(DELAY // 2) is None
    assert not late.copied(FIRST)
    assert late.wait() == usual.wait() == IRQ_RAISED | END_REACHED
    assert late.copied(LATER)
    assert late.read(PMCCNTR) == usual.read(PMCCNTR) > 0
    assert 0 <= late.clock.now() - usual.clock.now() - DELAY < 10_000


def test_a_reset_ends_a_job_before_it_is_late(board):
    late = board(NpuFault.LATE)
    late.run()
    late.write(RESET, 0)
    late.clock.skip(2 * DELAY)
    assert late.status() == 0
    assert not late.copied(FIRST)
    assert late.recovers()


def test_a_late_job_uses_the_memory_of_its_time(board):
    late = board(NpuFault.LATE)
    late.run()
    late.memory.view(SOURCE, SIZE)[:] = 7
    assert late.wait() == IRQ_RAISED | END_REACHED
    assert set(late.memory.view(LATER, SIZE)) == {7}


def test_an_early_job_has_ended_at_once_and_counts_as_usual(board):
    early, usual = board(NpuFault.EARLY), board(NpuFault.EARLY, job=1)
    for each in (early, usual):
        each.run()
    assert usual.status() & RUNNING
    assert early.status() == IRQ_RAISED | END_REACHED
    usual.wait()
    assert early.read(PMCCNTR) == usual.read(PMCCNTR) > 0


def test_a_lost_completion_has_done_the_work_and_never_shows(board):
    lost = board(NpuFault.LOST_COMPLETION)
    lost.run()
    assert lost.wait(60 * SECOND) is None
    lost.write(CMD, CLEAR_IRQ)
    assert lost.status() == RUNNING
    assert lost.copied(LATER)
    assert lost.recovers()


@pytest.mark.parametrize("kind", [NpuFault.HANG, NpuFault.LATE, NpuFault.LOST_COMPLETION])
def test_an_npu_that_seems_to_run_takes_no_other_job(board, kind):
    busy = board(kind)
    busy.run()
    busy.memory.view(FIRST, 2 * (LATER - FIRST))[:] = 0
    busy.write(CMD, RUN)
    assert busy.status() == RUNNING
    assert not busy.copied(FIRST)


@pytest.mark.parametrize("kind", [kind for kind in NpuFault if kind is not NpuFault.NONE])
def test_only_the_chosen_job_fails(board, kind):
    third = board(kind, job=2)
    for _ in range(2):
        assert third.recovers()
    assert not third.fault.happened
    third.run()
    assert third.fault.happened
    assert str(third.fault) == f"harness-sim: npu-fault kind={kind.value} job=2 happened=yes"
