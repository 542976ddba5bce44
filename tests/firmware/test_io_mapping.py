"""The io axis: what is mapped when, for how long, and what a touch outside of that leads to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.plan import (
    ALL_MODES,
    IO_PERSISTENT,
    PER_INFERENCE,
    PERSISTENT,
    FailingStage,
    Failure,
    IoLifetime,
    plan_comparison,
)

TENSORS = 4  # one input and three outputs
MEMORIES = 2  # the inputs' and the outputs'
LIFETIME, STAGING = "runner/lifetime.c", "runner/staging.c"
MAP_STEP = '    {"map", PHASE_CREATE, step_map_io, IO_PERSISTENT},\n'


@pytest.fixture(scope="session")
def matrix(firmware, revealing):
    """The inputs A, B, A in all modes, by mode."""
    run = firmware.run(plan_comparison(revealing, ALL_MODES, (0, 1, 0)))
    return {cell.mode: cell for cell in run.cells}


def stages(cell):
    return [cell.init, *(inference.stage for inference in cell.inferences), cell.destroy]


def counted(cell, count):
    return [stage.counts[count] for stage in stages(cell)]


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_each_tensor_is_mapped_in_each_inference_or_each_memory_once(matrix, mode):
    if mode.io is IoLifetime.PERSISTENT:
        assert counted(matrix[mode], "maps") == [MEMORIES, 0, 0, 0, 0]
        assert counted(matrix[mode], "unmaps") == [0, 0, 0, 0, MEMORIES]
    else:
        assert counted(matrix[mode], "maps") == [0, TENSORS, TENSORS, TENSORS, 0]
        assert counted(matrix[mode], "unmaps") == [0, TENSORS, TENSORS, TENSORS, 0]


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_what_is_taken_from_the_cpu_is_given_back(matrix, mode):
    cell = matrix[mode]
    total = {count: sum(counted(cell, count)) for count in ("maps", "unmaps", "driver_maps", "driver_unmaps")}
    assert total["maps"] == total["unmaps"]
    assert total["driver_maps"] <= total["driver_unmaps"]  # what was still mapped needed no map to be zeroed
    assert cell.live_objects == 0


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_every_page_that_is_unmapped_leaves_the_tlb(matrix, mode):
    for stage in stages(matrix[mode]):
        assert stage.counts["tlb"] == stage.counts["unmaps"] + stage.counts["driver_unmaps"]  # a page each


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_inputs_and_outputs_stay_where_they_are(matrix, mode):
    places = [place for place in matrix[mode].places if place.name in ("inputs", "outputs")]
    assert [place.name for place in places] == ["inputs", "outputs"]
    assert all(place.address % 4096 == 0 for place in places)


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_outputs_are_the_same_in_every_mode(matrix, revealing, mode):
    rising = revealing.inputs[0].tensors[0]
    assert [inference.outputs[0] for inference in matrix[mode].inferences] == [rising, rising[::-1], rising]


def test_inputs_and_outputs_in_one_memory_are_mapped_as_one(firmware, revealing):
    plan = replace(plan_comparison(revealing, ALL_MODES, (0, 1, 0)), shared_io=True)
    run = firmware.run(plan)
    assert run.status == "ok"
    for cell in run.cells:
        if cell.mode.io is IoLifetime.PERSISTENT:
            assert counted(cell, "maps") == [1, 0, 0, 0, 0]
        assert cell.inferences[1].outputs[0] == revealing.inputs[1].tensors[0]
        inputs, outputs = (
            next(place for place in cell.places if place.name == name) for name in ("inputs", "outputs")
        )
        assert outputs.address == inputs.address + 112


@pytest.mark.parametrize("mode", [IO_PERSISTENT, PERSISTENT], ids=str)
def test_a_map_that_fails_undoes_the_one_before_it(firmware, revealing, mode):
    failure = Failure(FailingStage.INIT, "map", call=1)
    run = firmware.run(replace(plan_comparison(revealing, [mode], (0,)), failures=(failure,)))
    (cell,) = run.cells
    assert run.faults[0].details == {"error": "injected", "where": "map"}
    assert (cell.status, cell.inferences) == ("driver-error", ())
    assert (cell.init.counts["maps"], cell.init.counts["unmaps"]) == (1, 1)
    assert (cell.live_objects, cell.pool_used) == (0, 0)


# ---- seeded defects

DATA_ABORT_SAME_LEVEL = 0x25
TRANSLATION_FAULT_LEVEL_3 = 0b000111


def abort_of(run):
    (fault,) = run.faults
    syndrome = int(fault.details["esr"], 16)
    assert (syndrome >> 26, syndrome & 0x3F) == (DATA_ABORT_SAME_LEVEL, TRANSLATION_FAULT_LEVEL_3)
    return fault


def test_a_touch_after_unmap_is_a_data_abort_in_the_buffer(firmware, revealing):
    unmapped = Edit(
        LIFETIME, MAP_STEP, MAP_STEP + '    {"unmap", PHASE_RELEASE, step_unmap_io, IO_PERSISTENT},\n'
    )
    fault = abort_of(firmware.run(plan_comparison(revealing, [PERSISTENT], (0,)), unmapped))
    assert (fault.index, fault.place) == (0, "inputs+0x0")


def test_a_touch_before_map_is_a_data_abort_in_the_buffer(firmware, revealing):
    unmapped = Edit(
        STAGING,
        "? ETHOSU_OK : ethosu_memory_map(batch->memory)",
        "|| batch == &execution->input_batch ? ETHOSU_OK : ethosu_memory_map(batch->memory)",
    )
    fault = abort_of(firmware.run(plan_comparison(revealing, [PER_INFERENCE], (0,)), unmapped))
    assert fault.place == "inputs+0x0"


def test_memory_that_is_mapped_twice_is_a_driver_error(firmware, revealing):
    twice = Edit(LIFETIME, MAP_STEP, MAP_STEP + MAP_STEP)
    run = firmware.run(plan_comparison(revealing, [PERSISTENT], (0,)), twice)
    assert run.faults[0].details == {"error": "already-mapped", "where": "map"}
    assert (run.cells[0].live_objects, run.cells[0].pool_used) == (0, 0)


def test_a_missing_unmap_is_a_driver_error_in_the_next_map(firmware, revealing):
    end = "? ETHOSU_OK : ethosu_memory_unmap(batch->memory)"
    kept = Edit(STAGING, end, "|| batch != NULL " + end)
    run = firmware.run(plan_comparison(revealing, [PER_INFERENCE], (0,)), kept)
    assert run.faults[0].details == {"error": "already-mapped", "where": "read_outputs"}


def test_a_missing_unmap_at_destroy_shows_in_the_counts(firmware, revealing):
    kept = Edit(LIFETIME, '    {"unmap", PHASE_RELEASE, step_unmap_io, IO_PERSISTENT},\n', "")
    (cell,) = firmware.run(plan_comparison(revealing, [PERSISTENT], (0,)), kept).cells
    assert (sum(counted(cell, "maps")), sum(counted(cell, "unmaps"))) == (MEMORIES, 0)
