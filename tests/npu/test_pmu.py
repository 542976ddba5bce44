"""The performance counters count the running job, and nothing else."""

from __future__ import annotations

import pytest

from harness.sim.npu.device import Cmd
from harness.sim.npu.pmu import Activity, Pmu
from harness.sim.npu.pmu_events import Event

CMD = 0x08
PMCR, PMCNTENSET, PMCNTENCLR, PMOVSSET, PMOVSCLR, PMINTSET, PMINTCLR = range(0x1180, 0x119C, 4)
PMCCNTR, PMCCNTR_HI = 0x11A0, 0x11A4
PMEVCNTR, PMEVTYPER = 0x1300, 0x1380
ENABLE, RESET_EVENTS, RESET_CYCLES = 1, 2, 4
CYCLE = 1 << 31
START, END = 100, 300


@pytest.fixture
def pmu():
    """Counters that are enabled, with a job of 200 cycles to come."""
    pmu = Pmu()
    pmu.write(PMCR, ENABLE, 0)
    pmu.write(PMCNTENSET, CYCLE | 0xFF, 0)
    pmu.write(PMEVTYPER, Event.MAC_ACTIVE, 0)
    pmu.begin(Activity(START, END, {Event.CYCLE: END - START, Event.MAC_ACTIVE: 50}))
    return pmu


def test_read_in_the_middle_gives_the_part_that_has_passed(pmu):
    assert pmu.read(PMCCNTR, 150) == 50
    assert pmu.read(PMEVCNTR, 200) == 25


def test_counter_stands_still_after_the_job(pmu):
    assert pmu.read(PMCCNTR, END) == 200
    assert pmu.read(PMCCNTR, 10 * END) == 200


@pytest.mark.parametrize(("register", "value"), [(PMCR, 0), (PMCNTENCLR, CYCLE)])
def test_counter_that_is_not_enabled_does_not_count(pmu, register, value):
    pmu.write(register, value, 150)
    assert pmu.read(PMCCNTR, END) == 50


def test_counting_goes_on_when_enabled_again(pmu):
    pmu.write(PMCR, 0, 150)
    pmu.write(PMCR, ENABLE, 250)
    assert pmu.read(PMCCNTR, END) == 100


def test_counter_that_was_never_enabled_stays_zero():
    pmu = Pmu()
    pmu.begin(Activity(START, END, {Event.CYCLE: 200}))
    assert pmu.read(PMCCNTR, END) == 0


def test_reset_bits_reset_their_counters_only(pmu):
    pmu.write(PMCR, ENABLE | RESET_CYCLES, END)
    assert (pmu.read(PMCCNTR, END), pmu.read(PMEVCNTR, END)) == (0, 50)
    pmu.write(PMCR, ENABLE | RESET_EVENTS, END)
    assert pmu.read(PMEVCNTR, END) == 0


def test_second_job_is_added_to_the_first(pmu):
    pmu.begin(Activity(400, 410, {Event.CYCLE: 10}))
    assert pmu.read(PMCCNTR, 1000) == 210


def test_counter_has_48_bits_in_two_registers(pmu):
    pmu.write(PMCCNTR, 0xFFFFFFFF, START)
    pmu.write(PMCCNTR_HI, 0xFFFFFFFF, START)
    assert pmu.read(PMCCNTR_HI, START) == 0xFFFF
    assert pmu.read(PMCCNTR, START + 3) == 2
    assert pmu.read(PMOVSSET, START + 3) == CYCLE


def test_overflow_raises_the_interrupt_that_is_enabled(pmu):
    pmu.write(PMEVCNTR, 0xFFFFFFFF, START)
    pmu.read(PMEVCNTR, END)
    assert not pmu.interrupt
    pmu.write(PMINTSET, 1, END)
    assert pmu.interrupt
    pmu.write(PMOVSCLR, 1, END)
    assert not pmu.interrupt


def test_control_tells_the_number_of_counters(pmu):
    assert pmu.read(PMCR, 0) == ENABLE | 8 << 11


@pytest.mark.parametrize(("register", "clear"), [(PMCNTENSET, PMCNTENCLR), (PMINTSET, PMINTCLR)])
def test_mask_is_set_and_cleared_bit_by_bit(register, clear):
    pmu = Pmu()
    pmu.write(register, 0xFFFFFFFF, 0)
    assert pmu.read(register, 0) == CYCLE | 0xFF
    pmu.write(clear, 0x0F, 0)
    assert pmu.read(clear, 0) == CYCLE | 0xF0


def test_event_that_is_not_counted_is_not_taken(pmu):
    pmu.write(PMEVTYPER, 0x1FF, END)
    assert pmu.read(PMEVTYPER, END) == 0


def test_cycles_of_a_network_are_the_same_every_time(network, clock):
    net = network("ds_cnn", 256)
    npu = net.device(clock)
    counts = []
    for _ in range(2):
        npu.write(PMCR, ENABLE | RESET_CYCLES)
        npu.write(PMCNTENSET, CYCLE)
        npu.write(CMD, Cmd.CLEAR_IRQ | Cmd.RUN)
        clock.now = npu.busy_until + 1000
        counts.append(npu.read(PMCCNTR))
    assert counts[0] == counts[1] > 10_000


def test_forgotten_reset_shows_in_the_count(network, clock):
    net = network("ds_cnn", 256)
    npu = net.device(clock)
    npu.write(PMCR, ENABLE)
    npu.write(PMCNTENSET, CYCLE)
    counts = []
    for _ in range(2):
        npu.write(CMD, Cmd.CLEAR_IRQ | Cmd.RUN)
        clock.now = npu.busy_until
        counts.append(npu.read(PMCCNTR))
    assert counts[1] == 2 * counts[0] > 0
