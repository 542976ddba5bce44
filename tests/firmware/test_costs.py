"""Instruction counts: equal for equal work, and explained by what was done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.plan import (
    DRIVER_MODES,
    DRIVER_PERSISTENT,
    PER_INFERENCE,
    Cell,
    Job,
    Plan,
    Program,
    plan_comparison,
)
from harness.results.calibration import prices_from
from harness.results.cost import explain

EXTRA_COPY = Edit(
    "runner/steps.c",
    "enum ethosu_error step_write_inputs(struct execution *execution)\n{\n",
    """enum ethosu_error step_write_inputs(struct execution *execution)
{
    static uint8_t from[65536] __attribute__((aligned(16))), to[65536] __attribute__((aligned(16)));

    staging_copy(execution, to, from, sizeof to);
    __asm__ volatile("" ::: "memory");
""",
)


@pytest.fixture(scope="session")
def calibration(firmware):
    return firmware.speak(Plan((), (), Program.CALIBRATE))


@pytest.fixture(scope="session")
def prices(calibration):
    return prices_from(calibration)


@pytest.mark.parametrize("mode", DRIVER_MODES, ids=str)
def test_a_mode_differs_from_itself_by_no_instruction(firmware, revealing, mode):
    first, second = firmware.run(plan_comparison(revealing, [mode, mode], (0, 1, 0))).cells
    assert first.init == second.init
    assert [i.stage for i in first.inferences] == [i.stage for i in second.inferences]
    assert first.destroy == second.destroy


def test_inferences_of_one_cell_cost_the_same(sound):
    for cell in sound.cells:
        first, second, third = (inference.stage for inference in cell.inferences)
        assert first == second == third


def test_a_cell_costs_the_same_in_another_image_and_after_other_cells(firmware, revealing, copying):
    alone = Plan((revealing,), (Cell(DRIVER_PERSISTENT, (0,), (Job(0, 0), Job(0, 1))),))
    later = Plan(
        (copying, revealing),
        (Cell(PER_INFERENCE, (0,), (Job(0, 0),)), Cell(DRIVER_PERSISTENT, (1,), (Job(0, 0), Job(0, 1)))),
    )
    (left,), (_, right) = firmware.run(alone).cells, firmware.run(later).cells
    assert left.init == right.init
    assert [i.stage for i in left.inferences] == [i.stage for i in right.inferences]
    assert left.destroy == right.destroy


def test_another_run_with_another_nonce_counts_the_same(firmware, both_lifetimes, sound, timeless):
    assert timeless(firmware.run(both_lifetimes)) == timeless(sound)


def test_counts_explain_the_saving_to_within_2_percent(firmware, copying, prices):
    compiled = replace(copying.compiled, weights=bytes(65536))
    plan = plan_comparison(replace(copying, compiled=compiled), DRIVER_MODES, (0, 1, 0))
    explanation = explain(*firmware.run(plan).cells, prices)
    assert explanation.saved > 10_000
    assert abs(explanation.residual_percent) < 2


def test_a_copy_that_is_not_counted_is_not_explained(firmware, copying, prices):
    uncounted = Edit(
        "ethosu/ethosu_memory.c",
        "    memcpy(to, from, size);\n    device->counts.copied += size;\n    device->counts.cleaned",
        "    memcpy(to, from, size);\n    device->counts.cleaned",
    )
    plan = plan_comparison(copying, DRIVER_MODES, (0, 1, 0))
    explanation = explain(*firmware.run(plan, uncounted).cells, prices)
    assert abs(explanation.residual_percent) > 2


def test_an_extra_copy_shows_as_that_copy_and_nothing_else(firmware, both_lifetimes, sound, prices):
    (plain, _), (extra, _) = sound.cells, firmware.run(both_lifetimes, EXTRA_COPY).cells
    before, after = plain.inferences[-1].stage, extra.inferences[-1].stage
    more = {phase: after.phases[phase] - before.phases[phase] for phase in before.phases}
    assert {phase for phase, instructions in more.items() if instructions} == {"write_inputs"}
    assert more["write_inputs"] == pytest.approx(65536 * prices.instructions["copied"], rel=0.02)
    assert after.counts == {**before.counts, "copied": before.counts["copied"] + 65536}


@pytest.mark.parametrize("operation", ["clean", "copy", "invalidate", "zero"])
def test_memory_costs_in_proportion_to_its_bytes(calibration, operation):
    records = [each for each in calibration.of_type("calibration") if each.text("operation") == operation]
    (s1, c1), (s2, c2), (s3, c3) = sorted(
        (each.number("size"), each.number("instructions")) for each in records
    )
    assert (c2 - c1) * (s3 - s2) == (c3 - c2) * (s2 - s1)
