"""Creations that fail, in every position: each is named and undone, and the next inference is right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.errors import UsageError
from harness.plan import (
    ALL_MODES,
    FAILING_STEPS,
    Cell,
    DriverLifetime,
    FailingStage,
    Failure,
    IoLifetime,
    Job,
    Plan,
    Scratch,
    plan_comparison,
)

OBJECT_STEPS = ("network", "weights", "scratch", "inputs", "outputs")
STATE_STEPS = ("write_state", "save_state")  # of models with variables: tests/state
CALLS = 2  # creating an object, and then its memory; mapping inputs, and then outputs


def positions(stage):
    return [(step, call) for step in FAILING_STEPS[stage] for call in range(CALLS)]


def always_has(mode, stage, step, call):
    """Whether the step makes that call in this mode, in every stage of its kind."""
    owns_io = mode.io is IoLifetime.PER_INFERENCE
    if step in STATE_STEPS:
        return False
    if step in OBJECT_STEPS:
        in_init = mode.driver is DriverLifetime.PERSISTENT
        memory_is_kept = step in ("inputs", "outputs") and not owns_io
        return in_init == (stage is FailingStage.INIT) and not (memory_is_kept and call == 1)
    if step in ("map", "io_memory"):
        return not owns_io
    if step == "submit":
        return call == 0
    if step == "read_outputs":
        return True  # of three outputs
    return call == 0 or owns_io  # a staging copy, and then a map


@pytest.fixture(scope="session")
def failing_inits(firmware, revealing):
    """In every mode a slot for each position of initialisation, which fails there, and one that does not."""
    failures = tuple(
        Failure(FailingStage.INIT, step, slot=slot, call=call)
        for slot, (step, call) in enumerate(positions(FailingStage.INIT))
    )
    slots = len(failures) + 1
    jobs = tuple(Job(slot, slot % 2) for slot in range(slots))
    cells = tuple(Cell(mode, (0,) * slots, jobs) for mode in ALL_MODES)
    return firmware.run(Plan((revealing,), cells, failures=failures))


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_an_initialisation_that_fails_anywhere_is_undone(failing_inits, revealing, mode):
    slots = [cell for cell in failing_inits.cells if cell.mode == mode]
    faults = {fault.slot: fault for fault in failing_inits.faults if fault.cell == slots[0].cell}
    planned = positions(FailingStage.INIT)
    for cell, (step, call) in zip(slots, planned, strict=False):
        if always_has(mode, FailingStage.INIT, step, call):
            assert faults[cell.slot].details == {"error": "injected", "where": step}
            assert (cell.status, cell.inferences) == ("driver-error", ())
            assert cell.init.counts["maps"] == cell.init.counts["unmaps"]
        else:
            assert cell.status == "ok", (step, call)
    for cell in slots:
        for inference in cell.inferences:
            assert inference.outputs[0] == revealing.inputs[cell.slot % 2].tensors[0]
        assert (cell.live_objects, cell.pool_used, cell.leaks) == (0, 0, ())


@pytest.fixture(scope="session", params=list(Scratch))
def failing_inferences(firmware, revealing, request):
    """In every mode an inference for each position, which fails there, and a good one after each."""
    failures = tuple(
        Failure(FailingStage.INFER, step, occurrence=2 * number, call=call)
        for number, (step, call) in enumerate(positions(FailingStage.INFER))
    )
    plan = plan_comparison(revealing, ALL_MODES, (0, 1), 2 * len(failures))
    return request.param, firmware.run(replace(plan, failures=failures, scratch=request.param))


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_an_inference_that_fails_anywhere_leaves_the_next_one_right(failing_inferences, revealing, mode):
    scratch, run = failing_inferences
    (cell,) = (cell for cell in run.cells if cell.mode == mode)
    faults = {fault.index: fault for fault in run.faults if fault.cell == cell.cell}
    for number, (step, call) in enumerate(positions(FailingStage.INFER)):
        failing, after = cell.inferences[2 * number : 2 * number + 2]
        expected = always_has(mode, FailingStage.INFER, step, call)
        if (step, scratch) == ("scratch", Scratch.TEMP):
            expected = call == 0  # one allocation, in every mode
        if expected:
            assert failing.status == "driver-error", (step, call)
            assert faults[failing.index].details == {"error": "injected", "where": step}
        else:
            assert failing.status == "ok", (step, call)
        assert after.status == "ok"
        assert after.outputs[0] == revealing.inputs[1].tensors[0]
        assert failing.stage.counts["maps"] == failing.stage.counts["unmaps"]
        assert failing.stage.memory.pool_used == after.stage.memory.pool_used
    assert (cell.live_objects, cell.pool_used, cell.leaks) == (0, 0, ())


def test_a_stage_has_only_its_own_steps():
    with pytest.raises(UsageError, match="init has no step 'submit'; allowed: io_memory, map"):
        Failure(FailingStage.INIT, "submit")


def test_an_initialisation_that_is_not_undone_is_a_leak(firmware, revealing):
    """The checks above can fail: a rollback that forgets the weights leaves them."""
    forgetful = Edit("runner/steps.c", "    ethosu_batch_destroy(&execution->weights);\n", "")
    failure = Failure(FailingStage.INIT, "outputs")
    plan = replace(plan_comparison(revealing, [ALL_MODES[-1]], (0,)), failures=(failure,))
    (cell,) = firmware.run(plan, forgetful).cells
    assert [(leak.kind, leak.step) for leak in cell.leaks] == [("memory", "weights"), ("buffers", "weights")]


def test_a_stream_off_its_alignment_is_named_with_its_address(firmware, both_lifetimes):
    run = firmware.run(replace(both_lifetimes, misalign_stream=True))
    assert {cell.status for cell in run.cells} == {"driver-error"}
    fault = run.faults[0]
    assert (fault.kind, fault.details["what"]) == ("misaligned", "stream")
    assert int(fault.details["address"], 16) % 16 == 4
    assert all((cell.live_objects, cell.pool_used) == (0, 0) for cell in run.cells)
