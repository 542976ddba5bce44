"""A conditional jump follows the last result, and the way that was taken is what is known of a job."""

from __future__ import annotations

import numpy as np
import pytest

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.cycles import Memory
from harness.sim.npu.faults import FaultKind
from harness.sim.npu.interpreter import MAX_JUMPS, run
from harness.sim.npu.machine import REGIONS
from harness.sim.npu.program import prepare
from harness.sim.npu.stream import trace

CONFIG = NpuConfig(256)
PORTS = (Memory.SRAM,) * REGIONS
BEHIND, TARGET = 0x1, 0x2  #: interrupt masks that show which way was taken
RESULT_FLAG = 1


@pytest.fixture
def forked(command):
    """A stream that jumps over its first interrupt if the last result says so."""
    jump = command("OP_BRANCH", condition=RESULT_FLAG, target=16)
    behind = command("OP_IRQ", mask=BEHIND) + command("OP_STOP", mask=0)
    return jump + behind + command("OP_IRQ", mask=TARGET) + command("OP_STOP", mask=0)


def carried_out(stream, machine):
    return run(prepare(stream, CONFIG), CONFIG, machine, PORTS)


def test_a_stream_is_known_up_to_the_jump(forked):
    program = prepare(forked, CONFIG)
    assert [command.name for command in trace(forked)] == ["OP_BRANCH"]
    assert (program.fault.kind, program.fault.offset) == (FaultKind.BRANCH, 0)
    assert "depends on a result" in program.fault.detail


@pytest.mark.parametrize(("result", "way"), [(0, BEHIND), (1, TARGET), (-1, TARGET)])
def test_any_result_but_zero_jumps(forked, machine, result, way):
    machine.note_result(np.array([[[result]]]))
    execution = carried_out(forked, machine)
    assert (execution.fault, execution.interrupt_mask) == (None, way)
    assert execution.program.interrupt_mask == way


def test_each_way_is_prepared_once(forked):
    fork = prepare(forked, CONFIG).fork
    assert fork.way(jumps=True) is fork.way(jumps=True)
    assert fork.way(jumps=True) is not fork.way(jumps=False)


def test_the_way_that_was_taken_is_one_program(forked, machine):
    machine.note_result(np.ones((1, 1, 1)))
    first, again = carried_out(forked, machine).program, carried_out(forked, machine).program
    assert first is again
    assert (first.fault, first.fork, first.end) == (None, None, len(forked))


def test_every_turn_of_a_loop_is_the_same_part(command, machine):
    """From the second on: before the first, other registers are set."""
    loop = command("OP_IRQ", mask=1) + command("BLOCKDEP", value=3)
    stream = loop + command("OP_BRANCH", condition=RESULT_FLAG, target=0) + command("OP_STOP", mask=0)
    first = prepare(stream, CONFIG)
    second = first.fork.way(jumps=True)
    assert second is not first
    assert second.fork.way(jumps=True) is second


@pytest.mark.parametrize(
    ("result", "detail"),
    [(None, "there is none"), (np.ones((1, 2, 1)), "a result of 2 elements is not modelled")],
)
def test_a_condition_that_is_unclear_is_a_branch_fault(forked, machine, result, detail):
    if result is not None:
        machine.note_result(result)
    fault = carried_out(forked, machine).fault
    assert (fault.kind, fault.offset, fault.opcode) == (FaultKind.BRANCH, 0, "OP_BRANCH")
    assert detail in fault.detail


def test_a_result_is_forgotten_when_the_next_stream_starts(forked, machine):
    machine.note_result(np.ones((1, 1, 1)))
    machine.start([0])
    assert "there is none" in carried_out(forked, machine).fault.detail


def test_a_loop_without_an_end_is_a_branch_fault(command, machine):
    machine.note_result(np.ones((1, 1, 1)))
    stream = command("OP_BRANCH", condition=RESULT_FLAG, target=0) + command("OP_STOP", mask=0)
    fault = carried_out(stream, machine).fault
    assert (fault.kind, fault.detail) == (FaultKind.BRANCH, f"the stream jumps more than {MAX_JUMPS} times")


def test_what_is_wrong_behind_a_jump_is_found_when_it_is_taken(command, machine):
    machine.note_result(np.ones((1, 1, 1)))
    jump = command("OP_BRANCH", condition=RESULT_FLAG, target=12)
    stream = jump + command("OP_STOP", mask=0) + command("OP_POOL") + command("OP_STOP", mask=0)
    execution = carried_out(stream, machine)
    assert (execution.fault.kind, execution.fault.offset) == (FaultKind.PARSE, 12)
    assert execution.end == 12
