"""Bars add up, share one scale, and leave out what no lifetime can change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.results.chart import chart
from harness.results.report import Report
from harness.results.run_record import COST_PHASES


def test_a_bar_is_the_cost_of_its_mode(sound: Report, modes) -> None:
    model = sound.models[0]
    drawn = chart(model, modes)
    assert drawn is not None
    costs = [cell.inferences[-1].stage.cost for cell in model.run.cells]
    assert [bar.instructions for bar in drawn.bars] == costs


def test_the_wait_is_in_no_bar(sound: Report, modes) -> None:
    drawn = chart(sound.models[0], modes)
    assert drawn is not None
    assert {segment.phase for bar in drawn.bars for segment in bar.segments} == set(COST_PHASES)


def test_segments_follow_each_other_and_end_within_the_scale(sound: Report, modes) -> None:
    drawn = chart(sound.models[0], modes)
    assert drawn is not None
    for bar in drawn.bars:
        ends = [segment.start + segment.length for segment in bar.segments]
        assert [segment.start for segment in bar.segments[1:]] == pytest.approx(ends[:-1])
        assert ends[-1] <= 1.0


@pytest.mark.parametrize("longest", [1, 5, 6, 9, 10, 99, 100, 101, 5_000, 53_061, 121_862, 10**9])
def test_the_scale_has_few_round_ticks_and_ends_just_above_the_longest_bar(longest: int, make, modes) -> None:
    model = make.model("ds_cnn", modes=modes[:1])
    cell = model.run.cells[0]
    last = cell.inferences[-1]
    stage = replace(last.stage, phases={**dict.fromkeys(last.stage.phases, 0), "submit": longest})
    inferences = (*cell.inferences[:-1], replace(last, stage=stage))
    run = replace(model.run, cells=(replace(cell, inferences=inferences),))
    drawn = chart(replace(model, run=run), modes[:1])
    assert drawn is not None
    ticks = [tick.instructions for tick in drawn.ticks]
    assert ticks[-2] < longest <= ticks[-1]
    assert len(ticks) <= 6
    assert str(ticks[1]).rstrip("0") in {"1", "2", "5"}


def test_a_mode_without_a_warm_inference_has_an_empty_bar(make, modes) -> None:
    model = make.model("ds_cnn", modes=modes[:2])
    cold = replace(model.run.cells[1], inferences=model.run.cells[1].inferences[:1])
    drawn = chart(replace(model, run=replace(model.run, cells=(model.run.cells[0], cold))), modes[:2])
    assert drawn is not None
    assert drawn.bars[1].segments == ()


def test_a_model_that_was_not_run_has_no_chart(make, modes) -> None:
    assert chart(make.failed(), modes) is None
