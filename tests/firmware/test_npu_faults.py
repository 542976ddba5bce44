"""Jobs that go wrong in the NPU: each ends with a name in its time, and the next inference is right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.plan import DRIVER_PERSISTENT, PER_INFERENCE, PERSISTENT, Scratch, plan_comparison

TIMEOUT_MS = 2
MODES = (PER_INFERENCE, DRIVER_PERSISTENT, PERSISTENT)
FAULTS = {
    "status-error": "npu-fault",
    "bus-error": "npu-fault",
    "hang": "timeout",
    "late": "timeout",
    "lost-completion": "timeout",
    "early": "ok",
}
LATE_BY_US = 1000 * (TIMEOUT_MS + 1)


@pytest.fixture(scope="session")
def plans(copying):
    return {
        mode: replace(plan_comparison(copying, [mode], (0, 1, 0)), inference_timeout_ms=TIMEOUT_MS)
        for mode in MODES
    }


def with_fault(fault, job=1):
    return {
        "host.ethosu.fault": fault,
        "host.ethosu.fault_job": job,
        "host.ethosu.fault_delay_us": LATE_BY_US,
    }


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_job_that_goes_wrong_is_named_and_the_next_is_right(firmware, plans, copying, mode, fault):
    run = firmware.run(plans[mode], parameters=with_fault(fault))
    (cell,) = run.cells
    assert [inference.status for inference in cell.inferences] == ["ok", FAULTS[fault], "ok"]
    assert [(each.slot, each.index) for each in run.faults] == ([] if fault == "early" else [(0, 1)])
    for inference in cell.inferences:
        if inference.status == "ok":
            assert inference.outputs[0] == copying.inputs[inference.index % 2].tensors[0]
    assert (cell.live_objects, cell.pool_used, cell.leaks) == (0, 0, ())


@pytest.mark.parametrize("fault", ["hang", "late", "lost-completion"])
def test_a_timeout_takes_its_time_and_not_more(firmware, plans, fault):
    (cell,) = firmware.run(plans[PERSISTENT], parameters=with_fault(fault)).cells
    assert TIMEOUT_MS * 1_000_000 <= cell.inferences[1].elapsed_ns < (TIMEOUT_MS + 1) * 1_000_000


def test_a_fault_with_temporary_scratch_leaves_nothing(firmware, plans, copying):
    plan = replace(plans[PERSISTENT], scratch=Scratch.TEMP)
    (cell,) = firmware.run(plan, parameters=with_fault("hang")).cells
    assert [inference.status for inference in cell.inferences] == ["ok", "timeout", "ok"]
    assert cell.inferences[2].outputs[0] == copying.inputs[0].tensors[0]
    assert cell.inferences[1].stage.memory.temp_used == cell.inferences[2].stage.memory.temp_used


NO_RESET = Edit(
    "ethosu/ethosu_inference.c",
    "            error = ethosu_device_reset(inference->device);\n",
    "            inference->device->running = false;\n",
)


def test_a_late_completion_is_never_taken_for_the_next_jobs(firmware, plans, copying):
    """A driver that forgets to stop what timed out gets no result, rather than the wrong one."""
    (cell,) = firmware.run(plans[PERSISTENT], NO_RESET, parameters=with_fault("late")).cells
    assert cell.inferences[2].status == "driver-error"
    assert cell.inferences[2].outputs == ()
