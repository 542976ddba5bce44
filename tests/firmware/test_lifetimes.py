"""What each lifetime does to objects, memory and outputs, and which defects show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.models.compiled import Bytes
from harness.plan import DRIVER_MODES, DRIVER_PERSISTENT, PER_INFERENCE, plan_comparison
from harness.results.run_record import Leak

FILE_OF_STEPS = "runner/steps.c"
POISON = b"\xa5"


def statuses(cell):
    return [inference.status for inference in cell.inferences]


@pytest.mark.parametrize("mode", DRIVER_MODES, ids=str)
def test_outputs_follow_the_inputs(firmware, revealing, mode):
    (cell,) = firmware.run(plan_comparison(revealing, [mode], (0, 1, 0))).cells
    rising = revealing.inputs[0].tensors[0]
    echoed = [inference.outputs[0] for inference in cell.inferences]
    assert echoed == [rising, rising[::-1], rising]


def test_per_inference_objects_start_from_zero(firmware, revealing):
    (cell,) = firmware.run(plan_comparison(revealing, [PER_INFERENCE], (0, 1))).cells
    assert [inference.outputs[2] for inference in cell.inferences] == [bytes(16), bytes(16)]


def test_persistent_scratch_keeps_what_the_last_run_left(firmware, revealing):
    (cell,) = firmware.run(plan_comparison(revealing, [DRIVER_PERSISTENT], (0, 1))).cells
    first_input = revealing.inputs[0].tensors[0]
    assert [inference.outputs[2] for inference in cell.inferences] == [bytes(16), first_input[:16]]


def test_each_lifetime_creates_its_objects_where_it_should(sound):
    per_inference, persistent = sound.cells

    def objects(stage):
        return stage.counts["networks"], stage.counts["buffers"], stage.counts["inferences"]

    assert objects(per_inference.init) == (0, 0, 0)
    assert [objects(inference.stage) for inference in per_inference.inferences] == [(1, 6, 1)] * 3
    assert objects(persistent.init) == (1, 6, 0)
    assert [objects(inference.stage) for inference in persistent.inferences] == [(0, 0, 1)] * 3


def test_what_was_created_is_zeroed_and_given_back(sound):
    for cell in sound.cells:
        assert (cell.live_objects, cell.pool_used) == (0, 0)
        zeroed = cell.inferences[0].stage.counts["zeroed"] + cell.destroy.counts["zeroed"]
        assert zeroed == cell.pool_peak


def test_weights_and_scratch_of_no_size_are_not_created(firmware, revealing):
    compiled = replace(revealing.compiled, weights=b"", scratch_size=Bytes(0))
    plan = plan_comparison(replace(revealing, compiled=compiled), [DRIVER_PERSISTENT], (0,))
    (cell,) = firmware.run(plan).cells
    assert cell.init.counts["buffers"] == 4


def test_npu_sram_is_cleared_in_a_phase_of_its_own_when_it_was_used(firmware, revealing):
    compiled = replace(revealing.compiled, scratch_fast_size=Bytes(16))
    plan = plan_comparison(replace(revealing, compiled=compiled), [PER_INFERENCE], (0,))
    (used,) = firmware.run(plan).cells
    (unused,) = firmware.run(plan_comparison(revealing, [PER_INFERENCE], (0,))).cells
    assert used.inferences[0].stage.phases["sram_clear"] > 0
    assert unused.inferences[0].stage.phases["sram_clear"] == 0
    assert used.inferences[0].stage.cost == unused.inferences[0].stage.cost


def test_the_timer_sees_the_time_that_the_npu_takes(sound):
    for cell in sound.cells:
        for inference in cell.inferences:
            assert inference.npu_cycles <= inference.elapsed_ns <= inference.npu_cycles + 1000


def outputs_of(run):
    return {cell.mode: {output for each in cell.inferences for output in each.outputs} for cell in run.cells}


def of_sizes(byte):
    return {byte * 100, byte * 64, byte * 16}


def test_an_output_that_is_not_written_shows_the_poison_where_buffers_persist(firmware, idle):
    found = outputs_of(firmware.run(plan_comparison(idle, DRIVER_MODES, (0, 1))))
    assert found == {PER_INFERENCE: of_sizes(bytes(1)), DRIVER_PERSISTENT: of_sizes(POISON)}


def test_without_poison_an_output_that_is_not_written_looks_the_same_in_both_lifetimes(firmware, idle):
    plan = replace(plan_comparison(idle, DRIVER_MODES, (0, 1)), poison=False)
    assert outputs_of(firmware.run(plan)) == dict.fromkeys(DRIVER_MODES, of_sizes(bytes(1)))


def test_outputs_that_are_never_read_show_the_poison(firmware, revealing):
    step = '    {"read_outputs", PHASE_READ_OUTPUTS, step_read_outputs, IO_IN_BUFFERS},\n'
    run = firmware.run(plan_comparison(revealing, DRIVER_MODES, (0,)), Edit("runner/lifetime.c", step, ""))
    assert outputs_of(run) == dict.fromkeys(DRIVER_MODES, of_sizes(POISON))


def test_poison_costs_nothing(firmware, both_lifetimes, sound):
    plain = firmware.run(replace(both_lifetimes, poison=False))
    for left, right in zip(plain.cells, sound.cells, strict=True):
        assert [each.stage for each in left.inferences] == [each.stage for each in right.inferences]


def without_rewind(batch):
    return Edit(
        FILE_OF_STEPS,
        f"    ethosu_batch_rewind(&execution->{batch});\n",
        "    (void)execution;\n",
    )


def test_a_missing_rewind_of_the_inputs_is_a_driver_error(firmware, both_lifetimes):
    run = firmware.run(both_lifetimes, without_rewind("input_batch"))
    per_inference, persistent = run.cells
    assert statuses(per_inference) == ["ok", "ok", "ok"]
    assert statuses(persistent) == ["ok", "driver-error", "driver-error"]
    assert run.faults[0].details == {"error": "no-space", "where": "write_inputs"}


def test_a_missing_rewind_of_the_outputs_is_a_driver_error(firmware, both_lifetimes):
    run = firmware.run(both_lifetimes, without_rewind("output_batch"))
    assert statuses(run.cells[1]) == ["ok", "driver-error", "driver-error"]
    assert run.faults[0].details == {"error": "short-read", "where": "read_outputs"}


def test_a_leaked_batch_is_reported_at_the_end(firmware, both_lifetimes):
    defect = Edit(FILE_OF_STEPS, "    ethosu_batch_destroy(&execution->output_batch);\n", "")
    per_inference, persistent = firmware.run(both_lifetimes, defect).cells
    assert (per_inference.live_objects, persistent.live_objects) == (6, 2)
    assert per_inference.pool_used == 3 * persistent.pool_used > 0
    assert per_inference.leaks == 3 * persistent.leaks
    assert persistent.leaks == (Leak("memory", 4096, "outputs"), Leak("buffers", 192, "outputs"))


def test_inputs_that_are_not_rewritten_show_in_the_outputs(firmware, revealing):
    step = '    {"write_inputs", PHASE_WRITE_INPUTS, step_write_inputs, IO_IN_BUFFERS},\n'
    defect = Edit("runner/lifetime.c", step, "")
    (cell,) = firmware.run(plan_comparison(revealing, [DRIVER_PERSISTENT], (0, 1)), defect).cells
    assert [inference.outputs[0] for inference in cell.inferences] == [bytes(100), bytes(100)]


def test_a_missing_clean_hides_the_inputs_from_the_npu(firmware, both_lifetimes):
    defect = Edit("ethosu/ethosu_memory.c", "cache_clean(to, size)", "size")
    first = firmware.run(both_lifetimes, defect).cells[1].inferences[0]
    assert first.status != "ok" or first.outputs[0] == POISON * 100


def test_a_missing_invalidate_shows_older_outputs(firmware, both_lifetimes):
    defect = Edit("ethosu/ethosu_memory.c", "cache_invalidate(from, size)", "size")
    _, persistent = firmware.run(both_lifetimes, defect).cells
    assert persistent.inferences[0].outputs[0] == POISON * 100


def test_a_cycle_counter_that_is_not_reset_counts_on(firmware, both_lifetimes):
    defect = Edit("ethosu/ethosu_device.c", "PMCR_COUNT_ENABLE | PMCR_CYCLE_RESET", "PMCR_COUNT_ENABLE")
    (cell, _) = firmware.run(both_lifetimes, defect).cells
    first, second, _ = (inference.npu_cycles for inference in cell.inferences)
    assert second == 2 * first


def test_a_cycle_counter_that_is_never_enabled_is_a_driver_error(firmware, both_lifetimes):
    defect = Edit("ethosu/ethosu_device.c", "    device_write(device, NPU_PMCNTENSET, PMCNTEN_CYCLES);\n", "")
    run = firmware.run(both_lifetimes, defect)
    assert set(statuses(run.cells[0])) == {"driver-error"}
    assert run.faults[0].details == {"error": "no-cycles", "where": "wait"}
