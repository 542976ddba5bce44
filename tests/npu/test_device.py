"""The NPU behaves towards software as its registers promise."""

from __future__ import annotations

import pytest

from harness.sim.npu import MAC_COUNTS, EthosU85, FaultKind, NpuConfig
from harness.sim.npu.device import MAX_STREAM_BYTES, Cmd, Status
from harness.sim.npu.faults import Channel

ID, STATUS, CMD, RESET = 0x00, 0x04, 0x08, 0x0C
QBASE, QREAD, QCONFIG, QSIZE, PROT, CONFIG = 0x10, 0x18, 0x1C, 0x20, 0x24, 0x28
REGIONCFG, MEM_ATTR, BASEP = 0x3C, 0x40, 0x80
IRQ_HISTORY = 0xFFFF << 16
STOP_WORD = 0xFFFF0000.to_bytes(4, "little")


@pytest.fixture
def memory(flat_memory):
    return flat_memory(4096)


@pytest.fixture
def npu(memory, clock):
    return EthosU85(NpuConfig(256), memory, clock)


@pytest.fixture
def start(npu, memory):
    """A function that puts a command stream at address 256 and runs it."""

    def run(stream, size=None):
        memory.content[256 : 256 + len(stream)] = list(stream)
        npu.write(QBASE, 256)
        npu.write(QSIZE, len(stream) if size is None else size)
        npu.write(CMD, Cmd.RUN)

    return run


def status(npu):
    """STATUS without its interrupt history."""
    return Status(npu.read(STATUS) & 0xFFFF)


@pytest.mark.parametrize("macs", MAC_COUNTS)
def test_identity_is_that_of_the_configuration(memory, clock, macs):
    npu = EthosU85(NpuConfig(macs), memory, clock)
    assert npu.read(CONFIG) & 0xF == macs.bit_length() - 1
    assert npu.read(CONFIG) >> 28 == 2
    assert npu.read(ID) == 0x20007000


def test_idle_after_power_on(npu):
    assert status(npu) == Status(0)
    assert npu.busy_until is None


@pytest.mark.parametrize("offset", [QBASE, QSIZE, REGIONCFG, BASEP, BASEP + 8 * 7])
def test_register_remembers_what_it_was_given(npu, offset):
    npu.write(offset, 0x1234)
    assert npu.read(offset) == 0x1234


def test_address_has_40_bits(npu):
    npu.write(BASEP + 4, 0xFFFFFFFF)
    assert npu.read(BASEP + 4) == 0xFF


def test_register_that_is_not_there_reads_zero(npu):
    npu.write(0x3FFC, 0xFFFFFFFF)
    assert npu.read(0x3FFC) == 0


def test_reset_takes_effect_at_once_and_sets_the_protection(npu):
    npu.write(BASEP, 64)
    npu.write(RESET, 0b10)
    assert (npu.read(PROT), npu.read(BASEP), status(npu)) == (0b10, 0, Status(0))


def test_job_runs_until_its_time_has_come(npu, start, clock):
    start(STOP_WORD)
    end = npu.busy_until
    assert end > clock.now
    clock.now = end - 1
    assert status(npu) == Status.RUNNING
    clock.now = end
    assert status(npu) == Status.IRQ_RAISED | Status.CMD_END_REACHED
    assert npu.busy_until is None
    assert npu.last_fault is None


def test_queue_read_ends_after_stop(npu, start, clock):
    start(STOP_WORD + bytes(8))
    clock.now = npu.busy_until
    assert npu.read(QREAD) == 4


def test_interrupt_is_cleared_by_command(npu, start, clock):
    start(STOP_WORD)
    clock.now = npu.busy_until
    assert npu.read(STATUS) & IRQ_HISTORY == IRQ_HISTORY
    npu.write(CMD, Cmd.CLEAR_IRQ | 0x00FF << 16)
    assert status(npu) == Status.CMD_END_REACHED
    assert npu.read(STATUS) >> 16 == 0xFF00


def test_end_reached_is_taken_back_by_the_next_run(npu, start, clock):
    start(STOP_WORD)
    clock.now = npu.busy_until
    npu.write(CMD, Cmd.CLEAR_IRQ | Cmd.RUN)
    assert status(npu) == Status.RUNNING


def test_run_while_running_changes_nothing(npu, start, clock):
    start(STOP_WORD)
    end = npu.busy_until
    npu.write(CMD, Cmd.RUN)
    assert npu.busy_until == end


def test_stop_request_ends_the_job_without_its_end(npu, start):
    start(STOP_WORD)
    npu.write(CMD, Cmd.STOP_REQUEST)
    assert status(npu) == Status.IRQ_RAISED
    assert npu.busy_until is None


@pytest.mark.parametrize("size", [0, 6, MAX_STREAM_BYTES + 4])
def test_stream_of_impossible_size_is_a_parse_error(npu, start, clock, size):
    start(STOP_WORD, size)
    clock.now = npu.busy_until
    assert status(npu) == Status.IRQ_RAISED | Status.CMD_PARSE_ERROR
    assert npu.last_fault.opcode == "QSIZE"


def test_unknown_opcode_is_a_parse_error_that_names_its_place(npu, start, clock):
    start(bytes([0x09, 0x01, 0, 0, 4, 0, 0, 0]) + STOP_WORD)
    clock.now = npu.busy_until
    assert status(npu) == Status.IRQ_RAISED | Status.CMD_PARSE_ERROR
    assert (npu.last_fault.kind, npu.last_fault.offset) == (FaultKind.PARSE, 4)
    assert npu.last_fault.opcode == "word 0x00000004"
    assert npu.read(QREAD) == 4


def test_fault_shows_only_when_the_job_has_ended(npu, start, clock):
    start(bytes([4, 0, 0, 0]))
    assert status(npu) == Status.RUNNING
    clock.now = npu.busy_until
    assert Status.CMD_PARSE_ERROR in status(npu)


def test_faulty_npu_runs_again_only_after_reset(npu, start, clock):
    start(bytes([4, 0, 0, 0]))
    clock.now = npu.busy_until
    start(STOP_WORD)
    assert npu.busy_until is None
    npu.write(RESET, 0)
    start(STOP_WORD)
    clock.now = npu.busy_until
    assert Status.CMD_END_REACHED in status(npu)


def test_jump_to_nowhere_is_a_branch_fault(npu, start, clock, command):
    start(command("OP_BRANCH", target=0x1000))
    clock.now = npu.busy_until
    assert status(npu) == Status.IRQ_RAISED | Status.BRANCH_FAULT


@pytest.mark.parametrize("external", [False, True])
def test_stream_outside_memory_is_a_bus_fault_of_the_command_reader(npu, clock, external):
    npu.write(QCONFIG, 2)
    npu.write(MEM_ATTR + 8, 4 * external)
    npu.write(QBASE + 4, 1)
    npu.write(QSIZE, 4)
    npu.write(CMD, Cmd.RUN)
    clock.now = npu.busy_until
    port = Status.FAULT_ON_EXTERNAL_PORT if external else Status(0)
    assert status(npu) == Status.IRQ_RAISED | Status.BUS_FAULT | port
    assert npu.last_fault.channel is Channel.COMMAND


@pytest.mark.parametrize(
    ("region", "channel", "opcode"),
    [
        (0, Channel.WEIGHT, "OP_CONV"),
        (1, Channel.OFM, "OP_CONV"),
        (3, Channel.IFM, "OP_CONV"),
    ],
)
def test_access_outside_memory_is_a_bus_fault_that_names_the_master(network, clock, region, channel, opcode):
    net = network("deep_autoencoder", 256)
    npu = net.device(clock)
    npu.write(REGIONCFG, 1 << 2 * region)
    npu.write(MEM_ATTR + 4, 4)
    npu.write(BASEP + 8 * region + 4, 0xFF)
    npu.write(CMD, Cmd.RUN)
    clock.now = npu.busy_until
    expected = Status.IRQ_RAISED | Status.BUS_FAULT | Status.FAULT_ON_EXTERNAL_PORT
    assert status(npu) == expected | Status(channel << 12)
    assert (npu.last_fault.kind, npu.last_fault.opcode) == (FaultKind.BUS, opcode)
    assert f"region {region}" in npu.last_fault.detail


@pytest.mark.parametrize("name", ["deep_autoencoder", "resnet8"])
def test_device_computes_what_the_bare_stream_does(network, clock, name):
    net = network(name, 512)
    (sample,) = net.samples(1)
    expected = net.run(sample)
    npu = net.device(clock)
    net.fill(sample)
    npu.write(CMD, Cmd.RUN)
    clock.now = npu.busy_until
    assert Status.CMD_END_REACHED in status(npu)
    assert net.outputs() == expected


def test_register_of_an_earlier_stream_is_not_there_for_the_next(network, clock, command):
    net = network("deep_autoencoder", 256)
    npu = net.device(clock)
    npu.write(CMD, Cmd.RUN)
    clock.now = npu.busy_until
    tail = command("OP_CONV") + command("OP_STOP", mask=0)
    net.memory.content[net.stream_address :][: len(tail)] = list(tail)
    npu.write(CMD, Cmd.RUN)
    clock.now = npu.busy_until
    assert Status.CMD_PARSE_ERROR in status(npu)
    assert "never set" in npu.last_fault.detail


def test_time_depends_on_the_ports_the_regions_are_reached_through(network, clock):
    net = network("ds_cnn", 256)
    times = []
    for attribute in (0, 4):
        npu = net.device(clock)
        npu.write(MEM_ATTR, attribute)
        npu.write(CMD, Cmd.RUN)
        times.append(npu.busy_until - clock.now)
    assert times[1] > times[0]
