"""Networks whose inputs and outputs lie in scratch memory: what is created, mapped and read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.errors import ModelError
from harness.plan import (
    ALL_MODES,
    PER_INFERENCE,
    PERSISTENT,
    DriverLifetime,
    FailingStage,
    Failure,
    IoLifetime,
    Scratch,
    plan_comparison,
)
from harness.results.resources import needs_of, resource_findings

SIZE, INPUT_AT = 100, 128
SCRATCH_IO = "runner/scratch_io.c"


@pytest.fixture(scope="session", params=[Scratch.BUFFER, Scratch.TEMP])
def scratch(request):
    return request.param


@pytest.fixture(scope="session")
def matrix(firmware, in_scratch, scratch):
    """The inputs A, B, A in all modes."""
    plan = replace(plan_comparison(in_scratch, ALL_MODES, (0, 1, 0)), scratch=scratch)
    return firmware.run(plan).cells


def test_outputs_are_the_same_in_every_mode(matrix, in_scratch):
    rising = in_scratch.inputs[0].tensors[0]
    for cell in matrix:
        assert [inference.outputs[0] for inference in cell.inferences] == [rising, rising[::-1], rising]


def test_it_takes_what_its_lifetime_allows(matrix, in_scratch, scratch):
    assert list(resource_findings(matrix, needs_of(in_scratch.compiled, scratch))) == []


def test_it_has_no_buffers_beside_weights_and_scratch(matrix, scratch):
    (cell,) = (cell for cell in matrix if cell.mode == PER_INFERENCE)
    assert cell.inferences[0].stage.counts["buffers"] == (2 if scratch is Scratch.BUFFER else 1)


def test_scratch_memory_that_the_driver_has_is_mapped_for_each_tensor_or_once(matrix, scratch):
    for cell in matrix:
        kept = cell.mode.io is IoLifetime.PERSISTENT
        maps = [stage.counts["maps"] for stage in (cell.init, *(each.stage for each in cell.inferences))]
        if scratch is Scratch.TEMP:
            assert maps == [0, 0, 0, 0]
        else:
            assert maps == ([1, 0, 0, 0] if kept else [0, 3, 3, 3])


def test_kept_objects_cost_less(matrix):
    def instructions(mode):
        (cell,) = (cell for cell in matrix if cell.mode == mode)
        return cell.inferences[1].stage.cost

    assert instructions(PERSISTENT) < instructions(PER_INFERENCE)


def test_what_scratch_holds_before_is_zero_or_poison_and_never_the_last_runs(firmware, in_scratch):
    run = firmware.run(plan_comparison(in_scratch, ALL_MODES, (0, 1, 0)))
    for cell in run.cells:
        kept = cell.mode.driver is DriverLifetime.PERSISTENT
        assert [each.outputs[1] for each in cell.inferences] == 3 * [(b"\xa5" if kept else b"\0") * 16]


def test_an_output_that_is_not_written_shows_its_poison(firmware, idle_in_scratch):
    (cell,) = firmware.run(plan_comparison(idle_in_scratch, (PERSISTENT,), (0, 1))).cells
    assert [each.outputs[0] for each in cell.inferences] == 2 * [b"\xa5" * SIZE]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("execution->model->input_offsets[index]", "execution->model->input_offsets[index] + 16"),
        ("execution->model->output_offsets[index]", "execution->model->output_offsets[0] + 16 * index"),
    ],
    ids=["input", "output"],
)
def test_a_tensor_at_another_offset_is_seen(firmware, in_scratch, old, new):
    plan = plan_comparison(in_scratch, (PERSISTENT,), (0, 1, 0))
    sound, wrong = firmware.run(plan), firmware.run(plan, Edit(SCRATCH_IO, old, new))
    assert [each.outputs for each in wrong.cells[0].inferences] != [
        each.outputs for each in sound.cells[0].inferences
    ]


def test_a_touch_of_scratch_memory_that_is_not_mapped_is_an_exception(firmware, in_scratch):
    unmapped = Edit(
        "runner/scratch_access.c",
        "    error = ethosu_buffer_write(&execution->scratch, 0, from, size);\n"
        "    enum ethosu_error end = staging_end_access(execution, &execution->scratch);\n",
        "    enum ethosu_error end = staging_end_access(execution, &execution->scratch);\n"
        "    error = ethosu_buffer_write(&execution->scratch, 0, from, size);\n",
    )
    run = firmware.run(plan_comparison(in_scratch, (PER_INFERENCE,), (0,)), unmapped)
    assert (run.faults[0].kind, run.faults[0].place) == ("exception", f"scratch+{INPUT_AT:#x}")


@pytest.mark.parametrize("step", ["io_memory", "map", "network", "scratch"])
def test_an_initialisation_that_fails_leaves_nothing(firmware, in_scratch, step):
    plan = plan_comparison(in_scratch, (PERSISTENT,), (0,))
    run = firmware.run(replace(plan, failures=(Failure(FailingStage.INIT, step),)))
    assert [fault.kind for fault in run.faults] == ["driver"]
    assert (run.cells[0].live_objects, run.cells[0].pool_used, run.cells[0].leaks) == (0, 0, ())


@pytest.mark.parametrize("step", ["scratch", "write_inputs", "submit", "read_outputs"])
def test_an_inference_that_fails_leaves_nothing(firmware, in_scratch, step, scratch):
    plan = replace(plan_comparison(in_scratch, (PER_INFERENCE,), (0, 1)), scratch=scratch)
    run = firmware.run(replace(plan, failures=(Failure(FailingStage.INFER, step),)))
    assert [fault.kind for fault in run.faults] == ["driver"]
    assert [each.status for each in run.cells[0].inferences] == ["driver-error", "ok"]
    assert (run.cells[0].live_objects, run.cells[0].pool_used, run.cells[0].leaks) == (0, 0, ())


def test_a_cop1_stream_off_its_alignment_is_named(firmware, in_scratch):
    plan = replace(plan_comparison(in_scratch, (PER_INFERENCE,), (0,)), misalign_stream=True)
    assert firmware.run(plan).faults[0].details["what"] == "stream"


@pytest.mark.parametrize("cut", [4, 8, 28, 32])
def test_a_damaged_cop1_payload_is_refused(firmware, in_scratch, cut):
    damaged = replace(in_scratch.compiled, command_stream=in_scratch.compiled.command_stream[:cut])
    run = firmware.run(plan_comparison(replace(in_scratch, compiled=damaged), (PER_INFERENCE,), (0,)))
    assert run.faults[0].details == {"error": "bad-stream", "where": "network"}


def test_a_tensor_beyond_its_scratch_memory_is_refused(firmware, in_scratch):
    small = replace(in_scratch.compiled, scratch_size=520)
    with pytest.raises(
        ModelError, match=r"'scratch' of 16 bytes lies at offset 512 of a scratch memory of 520"
    ):
        firmware.run(plan_comparison(replace(in_scratch, compiled=small), (PER_INFERENCE,), (0,)))
