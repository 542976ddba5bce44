"""Several models in one image: loaded at once, run in turn, from one pool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.plan import (
    ALL_MODES,
    DRIVER_MODES,
    DRIVER_PERSISTENT,
    PER_INFERENCE,
    PERSISTENT,
    FailingStage,
    Failure,
    Scratch,
    Zeroing,
    plan_comparison,
    plan_loaded,
)


def input_of(planned, inference):
    return next(chosen.tensors[0] for chosen in planned.inputs if chosen.label == inference.input)


@pytest.fixture(scope="session")
def three(revealing, copying, small_copy):
    return (revealing, copying, small_copy)


@pytest.fixture(scope="session")
def interleaved(firmware, three):
    return firmware.run(plan_loaded(three, ALL_MODES, (0, 1, 0)))


def test_neighbouring_inferences_differ_in_model_and_input(three):
    plan = plan_loaded(three, [PER_INFERENCE], (0, 1))
    assert [(job.slot, job.input) for job in plan.cells[0].jobs] == [
        *((0, 0), (1, 1), (2, 0)),
        *((0, 1), (1, 0), (2, 1)),
    ]


def test_each_model_gives_its_own_outputs_whatever_runs_in_between(interleaved, three):
    assert interleaved.status == "ok"
    assert len(interleaved.cells) == len(ALL_MODES) * len(three)
    for cell in interleaved.cells:
        assert [inference.index % 3 for inference in cell.inferences] == [cell.slot] * 3
        for inference in cell.inferences:
            assert inference.outputs[0] == input_of(three[cell.model], inference)


def test_models_that_are_loaded_at_once_share_the_pool(interleaved):
    for cell in interleaved.cells:
        slots = [slot for slot in interleaved.cells if slot.cell == cell.cell]
        assert cell.pool_held == max(slot.init.memory.pool_used for slot in slots)
        assert (cell.live_objects, cell.pool_used, cell.leaks) == (0, 0, ())


def test_a_model_costs_in_company_what_it_costs_alone(firmware, interleaved, copying):
    """Where it takes nothing from pool or cache in an inference: their costs grow with what others hold."""
    (alone,) = firmware.run(plan_comparison(copying, [DRIVER_PERSISTENT], (0, 1, 0))).cells
    (together,) = (cell for cell in interleaved.cells if (cell.mode, cell.slot) == (DRIVER_PERSISTENT, 1))
    assert alone.inferences[-1].stage.phases == together.inferences[-1].stage.phases


def test_a_model_may_be_loaded_many_times(firmware, revealing):
    plan = plan_loaded([revealing] * 4, DRIVER_MODES, (0, 1))
    run = firmware.run(plan)
    assert run.status == "ok"
    held = {cell.mode: cell.pool_held for cell in run.cells}
    (one,) = firmware.run(plan_comparison(revealing, [DRIVER_PERSISTENT], (0,))).cells
    assert held == {PER_INFERENCE: 0, DRIVER_PERSISTENT: 4 * one.pool_held}
    for cell in run.cells:
        assert [inference.outputs[0] for inference in cell.inferences] == [
            input_of(revealing, inference) for inference in cell.inferences
        ]


def test_a_pool_that_ends_refuses_the_model_that_does_not_fit(firmware, revealing):
    small = Edit("runner/main.c", ".pool_size = DMA_POOL_SIZE", ".pool_size = 4 * 4096 + 1024")
    run = firmware.run(plan_loaded([revealing] * 3, [DRIVER_PERSISTENT], (0, 1)), small)
    assert [cell.status for cell in run.cells] == ["ok", "driver-error", "driver-error"]
    assert [len(cell.inferences) for cell in run.cells] == [2, 0, 0]
    assert [(fault.slot, fault.index, fault.details["error"]) for fault in run.faults] == [
        (1, None, "out-of-memory"),
        (2, None, "out-of-memory"),
    ]
    assert run.cells[0].inferences[1].outputs[0] == revealing.inputs[1].tensors[0]
    assert all((cell.live_objects, cell.pool_used) == (0, 0) for cell in run.cells)


@pytest.mark.parametrize("mode", [DRIVER_PERSISTENT, PERSISTENT], ids=str)
def test_a_model_that_cannot_be_loaded_leaves_the_others_alone(firmware, three, mode):
    failure = Failure(FailingStage.INIT, "weights", slot=1)
    run = firmware.run(replace(plan_loaded(three, [mode], (0, 1)), failures=(failure,)))
    assert [cell.status for cell in run.cells] == ["ok", "driver-error", "ok"]
    for cell in run.cells:
        assert all(each.outputs[0] == input_of(three[cell.model], each) for each in cell.inferences)
        assert (cell.live_objects, cell.pool_used) == (0, 0)


@pytest.mark.parametrize("scratch", list(Scratch))
def test_without_zeroing_objects_find_what_others_left(firmware, revealing, copying, scratch):
    plan = plan_loaded([revealing, copying], [PER_INFERENCE, PERSISTENT], (0, 1, 0))
    run = firmware.run(replace(plan, zeroing=Zeroing.NONE, scratch=scratch))
    assert run.status == "ok"
    for cell in run.cells:
        assert all(each.outputs[0] == input_of(plan.models[cell.model], each) for each in cell.inferences)
        assert {each.stage.counts["zeroed"] for each in cell.inferences} == {0}
    (stale,) = (cell for cell in run.cells if (cell.mode, cell.model) == (PER_INFERENCE, 0))
    assert stale.inferences[1].outputs[2] != bytes(16)


def test_a_thousand_inferences_hold_no_more_than_one(firmware, revealing):
    run = firmware.run(plan_comparison(revealing, [PER_INFERENCE, PERSISTENT], (0, 1), 1000))
    assert run.status == "ok"
    for cell in run.cells:
        assert len(cell.inferences) == 1000
        assert len({inference.stage.memory for inference in cell.inferences[1:]}) == 1
        assert {inference.outputs[0] for inference in cell.inferences} == {
            chosen.tensors[0] for chosen in revealing.inputs
        }
        assert (cell.live_objects, cell.pool_used) == (0, 0)
