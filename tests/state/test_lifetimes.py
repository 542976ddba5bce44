"""Variables on the board: equal outputs in all modes, from kept and from initial state, and what it costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.build.render import render
from harness.errors import ModelError
from harness.examination import SEQUENCE
from harness.models.compiled import INPUT_REGION
from harness.plan import (
    ALL_MODES,
    DRIVER_PERSISTENT,
    PER_INFERENCE,
    PERSISTENT,
    DriverLifetime,
    FailingStage,
    Failure,
    Scratch,
    plan_comparison,
    plan_loaded,
)
from harness.results.resources import needs_of, resource_findings

LIFETIME, CELL = "runner/lifetime.c", "runner/cell.c"


def outputs(cell):
    return [inference.digests for inference in cell.inferences]


def expected(prepared, places):
    return [prepared.reference.digests[prepared.inputs[place].label] for place in places]


@pytest.fixture(scope="module", params=[False, True], ids=["reset", "kept"])
def keep_state(request):
    return request.param


@pytest.fixture(scope="module", params=list(Scratch))
def scratch(request):
    return request.param


@pytest.fixture(scope="module")
def feeding(recurrent, prepared, keep_state):
    return prepared(recurrent, keep_state)


@pytest.fixture(scope="module")
def matrix(feeding, run, keep_state, scratch):
    """The inputs A, B, A in all modes."""
    plan = plan_comparison(feeding.planned, ALL_MODES, SEQUENCE)
    return run(replace(plan, scratch=scratch, keep_state=keep_state)).cells


def test_outputs_are_the_references_in_every_mode(matrix, feeding, keep_state):
    right = expected(feeding, range(3) if keep_state else SEQUENCE)
    assert len(set(right)) == (3 if keep_state else 2)
    for cell in matrix:
        assert outputs(cell) == right


def test_it_takes_what_its_lifetime_allows(matrix, recurrent, scratch, keep_state):
    assert list(resource_findings(matrix, needs_of(recurrent, scratch, keep_state=keep_state))) == []


def test_variables_have_a_phase_of_their_own_unless_they_stay(matrix, scratch, keep_state):
    for cell in matrix:
        stays = keep_state and scratch is Scratch.BUFFER and cell.mode.driver is DriverLifetime.PERSISTENT
        costs = [inference.stage.phases["state"] for inference in cell.inferences]
        assert (cell.init.phases["state"] > 0) == stays
        assert all((cost > 0) != stays for cost in costs)


def test_models_loaded_together_keep_apart_what_they_remember(adding, prepared, run):
    feeding = prepared(adding, True)
    model = feeding.planned
    plan = plan_loaded((model, model), (PER_INFERENCE, PERSISTENT), SEQUENCE, len(SEQUENCE))
    record = run(replace(plan, keep_state=True))
    first, second = expected(feeding, range(3)), expected(feeding, range(3, 6))
    assert [outputs(cell) for cell in record.cells] == [first, second, first, second]


def test_an_inference_that_is_never_started_changes_no_state(adding, prepared, run):
    feeding = prepared(adding, True)
    plan = plan_comparison(feeding.planned, (PER_INFERENCE, PERSISTENT), SEQUENCE)
    first_place_twice = [replace(cell, jobs=(cell.jobs[0], *cell.jobs[:2])) for cell in plan.cells]
    failures = (Failure(FailingStage.INFER, "submit"),)
    record = run(replace(plan, keep_state=True, failures=failures, cells=tuple(first_place_twice)))
    for cell in record.cells:
        assert [each.status for each in cell.inferences] == ["driver-error", "ok", "ok"]
        assert outputs(cell)[1:] == expected(feeding, (0, 1))


@pytest.fixture
def after_failure(recurrent, prepared, run):
    """A function that fails a step of the first inference of three: the cell, and what the others give."""
    feeding = prepared(recurrent, True)
    plan = plan_comparison(feeding.planned, (PER_INFERENCE,), SEQUENCE)
    (cell,) = plan.cells
    plan = replace(plan, keep_state=True, cells=(replace(cell, jobs=(cell.jobs[0], *cell.jobs[:2])),))

    def fail(step, call, *edits):
        record = run(replace(plan, failures=(Failure(FailingStage.INFER, step, call=call),)), *edits)
        assert [fault.details["where"] for fault in record.faults] == [step]
        return record.cells[0], expected(feeding, (0, 1))

    return fail


@pytest.mark.parametrize("call", [0, 1])
@pytest.mark.parametrize("step", ["write_state", "save_state"])
def test_an_inference_whose_state_cannot_be_moved_changes_none(after_failure, step, call):
    cell, right = after_failure(step, call)
    assert [each.status for each in cell.inferences] == ["driver-error", "ok", "ok"]
    assert outputs(cell)[1:] == right
    assert (cell.live_objects, cell.pool_used, cell.leaks) == (0, 0, ())


def test_half_a_state_would_show(after_failure):
    """The seeded defect: of the two variables the first is saved, and then the second cannot be read."""
    in_place = Edit("runner/state.c", "uint8_t *to = plan.new_state;", "uint8_t *to = execution->state;")
    no_copy = Edit(
        "runner/state.c", "        memcpy(execution->state, plan.new_state, model->state_size);\n", ""
    )
    cell, right = after_failure("save_state", 1, in_place, no_copy)
    assert outputs(cell)[1:] != right


def test_an_initialisation_that_cannot_write_the_state_is_undone(adding, prepared, run):
    feeding = prepared(adding, True)
    plan = plan_comparison(feeding.planned, (DRIVER_PERSISTENT,), SEQUENCE)
    failures = (Failure(FailingStage.INIT, "write_state"),)
    (cell,) = run(replace(plan, keep_state=True, failures=failures)).cells
    assert (cell.status, cell.inferences) == ("driver-error", ())
    assert (cell.live_objects, cell.pool_used, cell.leaks) == (0, 0, ())


def test_variables_outside_of_scratch_memory_are_refused(recurrent, prepared, settings):
    inputs = tuple(replace(tensor, region=INPUT_REGION) for tensor in recurrent.inputs)
    model = replace(prepared(recurrent, False), compiled=replace(recurrent, inputs=inputs)).planned
    with pytest.raises(ModelError, match=r"recurrent keeps variables .* do not lie in scratch memory"):
        render(plan_comparison(model, (PER_INFERENCE,), (0,)), settings.board)


WRITE = '    {"write_state", PHASE_STATE, step_write_state, STATE_WRITTEN},\n'
SAVE = '    {"save_state", PHASE_STATE, step_save_state, STATE_SAVED},\n'
RUN = """    {"submit", PHASE_SUBMIT, step_submit, ALWAYS},
    {"wait", PHASE_WAIT, step_wait, ALWAYS},
"""
DEFECTS = {
    "never reset": (DRIVER_PERSISTENT, False, Edit(LIFETIME, WRITE, "")),
    "not put back": (PER_INFERENCE, True, Edit(LIFETIME, WRITE, "")),
    "not saved": (PER_INFERENCE, True, Edit(LIFETIME, SAVE, "")),
    "saved too early": (PER_INFERENCE, True, Edit(LIFETIME, RUN + SAVE, SAVE + RUN)),
    "reset although kept": (
        DRIVER_PERSISTENT,
        True,
        Edit(
            LIFETIME, "if (!plan.keep_state) {", "if (!plan.keep_state || cell->driver == PLAN_PERSISTENT) {"
        ),
    ),
    "not initialised": (
        DRIVER_PERSISTENT,
        True,
        Edit(LIFETIME, '    {"write_state", PHASE_STATE, step_write_state, STATE_STAYS},\n', ""),
    ),
    "poisoned": (DRIVER_PERSISTENT, True, Edit(CELL, "plan.keep_state && execution", "false && execution")),
    "one offset for all": (
        PER_INFERENCE,
        False,
        Edit(
            "runner/state.c",
            "scratch_write(execution, model->variable_offsets[i]",
            "scratch_write(execution, model->variable_offsets[0]",
        ),
    ),
}


@pytest.mark.proof
@pytest.mark.parametrize("name", DEFECTS)
def test_state_that_is_handled_wrongly_shows_in_outputs(recurrent, prepared, run, name):
    mode, keep_state, defect = DEFECTS[name]
    feeding = prepared(recurrent, keep_state)
    plan = replace(plan_comparison(feeding.planned, (mode,), SEQUENCE), keep_state=keep_state)
    (cell,) = run(plan, defect).cells
    assert [each.status for each in cell.inferences] == 3 * ["ok"]
    assert outputs(cell) != expected(feeding, range(3) if keep_state else SEQUENCE)


def test_one_state_for_all_models_shows_in_outputs(adding, prepared, run):
    feeding = prepared(adding, True)
    shared = Edit(CELL, "        state += plan.slots[slot].model->state_size;\n", "")
    plan = plan_loaded((feeding.planned,) * 2, (PER_INFERENCE,), SEQUENCE, len(SEQUENCE))
    record = run(replace(plan, keep_state=True), shared)
    assert outputs(record.cells[0]) != expected(feeding, range(3))
