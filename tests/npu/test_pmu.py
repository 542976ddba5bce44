"""The performance counters count the running job, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from harness.sim.npu import EthosU85, NpuConfig
from harness.sim.npu.device import BASEP, MEM_ATTR, QSIZE, REGIONCFG, RESET, Cmd
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


EVENTS = (
    Event.CYCLE,
    Event.NPU_ACTIVE,
    Event.NPU_IDLE,
    Event.MAC_ACTIVE,
    Event.AO_ACTIVE,
    Event.WD_ACTIVE,
    Event.SRAM_RD_DATA_BEAT_RECEIVED,
    Event.SRAM_WR_DATA_BEAT_WRITTEN,
)
EXTERNAL = (Event.EXT_RD_DATA_BEAT_RECEIVED, Event.EXT_WR_DATA_BEAT_WRITTEN)
BEAT = 16


def counted(npu, clock, events, enabled=0xFF):
    """Run a job, and return what a driver reads for each of up to eight events."""
    npu.write(PMCR, ENABLE | RESET_EVENTS | RESET_CYCLES)
    for index, event in enumerate(events):
        npu.write(PMEVTYPER + 4 * index, event)
    npu.write(PMCNTENSET, enabled)
    npu.write(CMD, Cmd.CLEAR_IRQ | Cmd.RUN)
    clock.now = npu.busy_until
    counts = {event: npu.read(PMEVCNTR + 4 * index) for index, event in enumerate(events)}
    npu.write(PMCNTENCLR, 0xFF)
    return counts


@pytest.fixture
def copier(flat_memory, clock, stream):
    """A function that returns an NPU which is about to copy so many bytes, region 1 on the external port."""

    def build(size):
        content = stream(
            ("DMA0_SRC_REGION", {"region": 0}),
            ("DMA0_DST_REGION", {"region": 1}),
            ("DMA0_SRC", {"value": 0}),
            ("DMA0_DST", {"value": 0}),
            ("DMA0_LEN", {"value": size}),
            ("OP_DMA_START", {}),
            ("OP_DMA_WAIT", {"outstanding": 0}),
        )
        memory = flat_memory(1 << 16)
        memory.content[: len(content)] = np.frombuffer(content, np.uint8)
        npu = EthosU85(NpuConfig(256), memory, clock)
        npu.write(QSIZE, len(content))
        npu.write(BASEP, 0x1000)
        npu.write(BASEP + 8, 0x8000)
        npu.write(REGIONCFG, 1 << 2)
        npu.write(MEM_ATTR + 4, 1 << 2)
        return npu

    return build


def test_network_keeps_its_parts_busy_for_no_longer_than_itself(network, clock):
    counts = counted(network("ds_cnn", 256).device(clock), clock, EVENTS)
    active = counts[Event.NPU_ACTIVE]
    assert counts[Event.CYCLE] == active > 10_000
    assert counts[Event.NPU_IDLE] == 0
    for part in (Event.MAC_ACTIVE, Event.AO_ACTIVE, Event.WD_ACTIVE):
        assert 0 < counts[part] <= active


def test_network_in_sram_leaves_the_external_port_alone(network, clock):
    net = network("ds_cnn", 256)
    counts = counted(net.device(clock), clock, EXTERNAL)
    assert set(counts.values()) == {0}
    weights = len(net.compiled.weights) // BEAT
    assert counted(net.device(clock), clock, EVENTS)[Event.SRAM_RD_DATA_BEAT_RECEIVED] > weights


@pytest.mark.parametrize("size", [16, 1600, 1601])
def test_copy_is_read_on_one_port_and_written_on_the_other(copier, clock, size):
    counts = counted(copier(size), clock, (*EVENTS[-2:], *EXTERNAL))
    beats = -(-size // BEAT)
    assert list(counts.values()) == [beats, 0, 0, beats]


def test_copy_needs_neither_array_nor_output_stage(copier, clock):
    counts = counted(copier(1600), clock, EVENTS)
    assert counts[Event.NPU_ACTIVE] > 0
    assert [counts[part] for part in (Event.MAC_ACTIVE, Event.AO_ACTIVE, Event.WD_ACTIVE)] == [0, 0, 0]


def test_stream_without_work_is_idle(flat_memory, clock, stream):
    memory = flat_memory(64)
    memory.content[:4] = np.frombuffer(stream(), np.uint8)
    npu = EthosU85(NpuConfig(256), memory, clock)
    npu.write(QSIZE, 4)
    counts = counted(npu, clock, (Event.CYCLE, Event.NPU_IDLE, Event.NPU_ACTIVE))
    assert list(counts.values()) == [1, 1, 0]


def test_events_are_the_same_every_time(network, clock):
    npu = network("ds_cnn", 256).device(clock)
    assert counted(npu, clock, EVENTS) == counted(npu, clock, EVENTS)


def test_event_that_is_never_enabled_shows_in_its_count(copier, clock):
    all_but_the_second = 0xFF & ~2
    counts = counted(copier(1600), clock, EVENTS, enabled=all_but_the_second)
    assert counts[Event.NPU_ACTIVE] == 0
    assert counts[Event.CYCLE] > 0


def test_event_counters_that_are_not_reset_go_on(copier, clock):
    npu = copier(1600)
    npu.write(PMCR, ENABLE)
    npu.write(PMEVTYPER, Event.SRAM_RD_DATA_BEAT_RECEIVED)
    npu.write(PMCNTENSET, 1)
    for jobs in (1, 2):
        npu.write(CMD, Cmd.CLEAR_IRQ | Cmd.RUN)
        clock.now = npu.busy_until
        assert npu.read(PMEVCNTR) == jobs * 100


def test_refused_events_are_named_even_after_a_reset(copier):
    npu = copier(16)
    for event in (51, 0x3FF, 51, Event.MAC_ACTIVE):
        npu.write(PMEVTYPER, event)
    npu.write(RESET, 0)
    assert npu.refusals == (
        "PMU event 51 (MAC_DPU_ACTIVE) is not counted",
        "PMU event 1023 (no event of this NPU) is not counted",
    )


def test_nothing_is_refused_when_only_known_events_are_asked_for(copier, clock):
    npu = copier(16)
    counted(npu, clock, EVENTS)
    assert npu.refusals == ()
