"""The temp axis: staging copies and scratch from the temporary allocator, reset after every inference."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.models.compiled import Bytes
from harness.plan import (
    ALL_MODES,
    DRIVER_PERSISTENT,
    PER_INFERENCE,
    PERSISTENT,
    TEMP_CACHING,
    Scratch,
    TempAllocator,
    plan_comparison,
    plan_loaded,
)

TENSORS = 4  # one input and three outputs, each with a staging copy
TEMP_MODES = (PER_INFERENCE, TEMP_CACHING)


@pytest.fixture(scope="session")
def staged(firmware, revealing):
    """The inputs A, B, A with each allocator, by allocator."""
    cells = firmware.run(plan_comparison(revealing, TEMP_MODES, (0, 1, 0))).cells
    return {cell.mode.temp: cell for cell in cells}


def counted(cell, count):
    return [inference.stage.counts[count] for inference in cell.inferences]


def test_malloc_takes_and_frees_every_staging_copy(staged):
    cell = staged[TempAllocator.MALLOC]
    assert counted(cell, "allocations") == counted(cell, "frees") == [TENSORS] * 3
    assert counted(cell, "reused") == [0] * 3
    assert (cell.temp_held, cell.temp_peak > 0) == (0, True)


def test_caching_allocates_in_the_first_inference_alone(staged):
    cell = staged[TempAllocator.CACHING]
    assert counted(cell, "allocations") == [TENSORS, 0, 0]
    assert counted(cell, "reused") == [0, TENSORS, TENSORS]
    assert counted(cell, "frees") == [0] * 3
    assert cell.temp_held > 0


def test_every_byte_goes_through_a_staging_copy(firmware, copying):
    (cell,) = firmware.run(plan_comparison(copying, [DRIVER_PERSISTENT], (0,))).cells
    assert counted(cell, "copied") == [4 * 4096]


def test_caching_above_its_limit_frees_everything_at_the_reset(firmware, revealing):
    plan = replace(plan_comparison(revealing, [PERSISTENT], (0, 1)), temp_limit=500)
    (cell,) = firmware.run(plan).cells
    assert counted(cell, "frees") == [TENSORS] * 2
    assert cell.temp_held == 0
    assert cell.temp_peak > 500


@pytest.fixture(scope="session")
def with_temporary_scratch(firmware, revealing):
    plan = replace(plan_comparison(revealing, ALL_MODES, (0, 1, 0)), scratch=Scratch.TEMP)
    return {cell.mode: cell for cell in firmware.run(plan).cells}


@pytest.fixture
def in_pool(firmware):
    """A function that tells whether an address lies in the DMA pool."""
    memory = firmware.board.memory
    return lambda address: memory.dma_pool_base <= address < memory.dma_pool_base + memory.dma_pool_size


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_scratch_of_the_allocator_is_no_buffer(with_temporary_scratch, revealing, in_pool, mode):
    cell = with_temporary_scratch[mode]
    places = {place.name: place for place in cell.places}
    assert not in_pool(places["scratch"].address)
    assert all(in_pool(place.address) for name, place in places.items() if name != "scratch")
    buffers = max(cell.init.counts["buffers"], cell.inferences[0].stage.counts["buffers"])
    assert buffers == 5
    assert counted(cell, "reused")[1] + counted(cell, "allocations")[1] == TENSORS + 1
    assert cell.inferences[1].outputs[0] == revealing.inputs[1].tensors[0]


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_scratch_of_the_allocator_keeps_what_the_last_run_left(with_temporary_scratch, revealing, mode):
    found = [inference.outputs[2] for inference in with_temporary_scratch[mode].inferences]
    assert found[1:] == [chosen.tensors[0][:16] for chosen in revealing.inputs]


def with_scratch(planned, size):
    compiled = replace(planned.compiled, name=f"scratch of {size}", scratch_size=Bytes(size))
    return replace(planned, compiled=compiled)


@pytest.fixture(scope="session")
def three_sizes(firmware, revealing):
    """Three models with scratch of different sizes, in turn, under a limit that holds one of them."""
    models = [with_scratch(revealing, size) for size in (1000, 2000, 3000)]
    plan = plan_loaded(models, TEMP_MODES, (0, 1), 4)
    return firmware.run(replace(plan, scratch=Scratch.TEMP, temp_limit=4000))


def test_alternating_sizes_outgrow_a_limit_that_holds_each_of_them(three_sizes):
    caching = [cell for cell in three_sizes.cells if cell.mode == TEMP_CACHING]
    assert sum(sum(counted(cell, "frees")) for cell in caching) > 0
    assert sum(sum(counted(cell, "reused")) for cell in caching) > 0
    held = [inference.stage.memory.temp_used for cell in caching for inference in cell.inferences]
    assert max(held) <= 4000


def test_outputs_do_not_depend_on_how_scratch_is_reused(three_sizes, revealing):
    assert three_sizes.status == "ok"
    for cell in three_sizes.cells:
        for inference in cell.inferences:
            chosen = next(each for each in revealing.inputs if each.label == inference.input)
            assert inference.outputs[0] == chosen.tensors[0]


# ---- seeded defects


@pytest.mark.parametrize("mode", TEMP_MODES, ids=str)
def test_an_allocator_that_is_never_reset_grows(firmware, revealing, mode):
    forgotten = Edit("runner/lifetime.c", '    {"reset_temp", PHASE_RELEASE, step_reset_temp, ALWAYS},\n', "")
    (cell,) = firmware.run(plan_comparison(revealing, [mode], (0, 1, 0)), forgotten).cells
    held = [inference.stage.memory.temp_used for inference in cell.inferences]
    assert 0 < held[0] < held[1] < held[2]


def test_a_heap_without_room_is_a_driver_error(firmware, revealing):
    small = Edit("runner/cell.c", "heap_start, (size_t)(heap_end - heap_start)", "heap_start, 128")
    run = firmware.run(plan_comparison(revealing, [PERSISTENT], (0,)), small)
    assert run.faults[0].details == {"error": "no-heap", "where": "write_inputs"} or run.faults[
        0
    ].details == {
        "error": "no-heap",
        "where": "read_outputs",
    }
    assert (run.cells[0].live_objects, run.cells[0].pool_used) == (0, 0)
