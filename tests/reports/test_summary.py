"""What every format shows: a verdict for each model and mode, what is the same, what was not compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.results.finding import Finding
from harness.results.report import Report
from harness.results.summary import Sameness, summarise, warm_inference


def test_a_finding_stands_in_its_own_cell_and_no_other(mixed: Report, modes) -> None:
    row = summarise(mixed).models[1]
    assert [cell.verdict for cell in row.cells] == ["pass"] * 7 + ["fail"]
    assert row.cells[-1].findings == row.findings


def test_a_cell_whose_inference_failed_is_an_error(make, modes) -> None:
    report = make.report(make.model("ds_cnn", Finding("status", modes[2], 1, "timeout")))
    assert summarise(report).models[0].cells[2].verdict == "error"


def test_a_finding_without_a_mode_is_kept_outside_the_cells(make) -> None:
    finding = Finding("status", None, None, "the run ended with timeout")
    row = summarise(make.report(make.model("ds_cnn", finding))).models[0]
    assert row.elsewhere == (finding,)
    assert {cell.verdict for cell in row.cells} == {"pass"}


def test_a_mode_that_one_model_has_no_record_of_is_never_a_pass(make, modes) -> None:
    summary = summarise(make.report(make.model("resnet8"), make.model("ds_cnn", modes=modes[:3])))
    assert [cell.verdict for cell in summary.models[1].cells] == ["pass"] * 3 + ["not run"] * 5
    assert sum(gap.model == "ds_cnn" for gap in summary.gaps) == 5


@pytest.mark.parametrize(
    ("check", "column"),
    [
        ("outputs-modes", "outputs"),
        ("outputs-repeat", "outputs"),
        ("npu-cycles", "npu_cycles"),
        ("npu-cycles-zero", "npu_cycles"),
        ("npu-cycles-time", "npu_cycles"),
        ("outputs-reference", "reference"),
    ],
)
def test_each_check_of_sameness_shows_in_its_column(check: str, column: str, make, modes) -> None:
    row = summarise(make.report(make.model("ds_cnn", Finding(check, modes[1], 1, "seeded")))).models[0]
    found = {name: getattr(row, name) for name in ("outputs", "npu_cycles", "reference")}
    assert found.pop(column) is Sameness.DIFFERENT
    assert set(found.values()) == {Sameness.SAME}


def test_an_incomplete_run_establishes_nothing(make, modes) -> None:
    row = summarise(make.report(make.model("ds_cnn", Finding("status", modes[1], 1, "timeout")))).models[0]
    assert {row.outputs, row.npu_cycles, row.reference} == {Sameness.UNKNOWN}


def test_what_was_not_compared_is_named_with_its_reason(mixed: Report) -> None:
    gaps = {gap.model: gap for gap in summarise(mixed).gaps}
    assert gaps["own"].why == "it was compiled before"
    assert gaps["broken"].why == "zig failed with code 1"


def test_a_single_mode_is_said_to_compare_no_lifetimes(make, modes) -> None:
    summary = summarise(make.report(make.model("ds_cnn", modes=modes[:1])))
    assert "nothing was held against another lifetime" in summary.gaps[0].text
    assert summary.axes == ()


def test_the_headline_counts_what_failed(mixed: Report, sound: Report, make) -> None:
    failing = make.report(make.model("resnet8"), make.spoilt("ds_cnn"))
    assert summarise(sound).headline == "outputs and NPU cycles are identical in 2 models and 8 modes"
    assert summarise(failing).headline == "1 finding in 1 of 2 models"
    assert summarise(mixed).headline == "1 of 4 models ended in an error"


def test_a_headline_claims_identity_only_where_it_was_established(sound: Report) -> None:
    model = sound.models[0]
    assert model.comparison is not None
    unproven = replace(model, comparison=replace(model.comparison, npu_cycles_identical=False))
    assert "identical" not in summarise(replace(sound, models=(unproven,))).headline


def test_axes_that_do_not_differ_are_told_once(make, modes) -> None:
    summary = summarise(make.report(make.model("ds_cnn", modes=(modes[0], modes[4]))))
    assert summary.axes == ("driver",)
    assert summary.fixed == "io = per-inference, temp = malloc"


def test_the_cost_shown_is_that_of_the_last_inference_that_completed(make, modes) -> None:
    cell = make.model("ds_cnn", modes=modes[:1]).run.cells[0]
    failed = replace(cell, inferences=(*cell.inferences[:2], replace(cell.inferences[2], status="timeout")))
    assert warm_inference(cell) is cell.inferences[2]
    assert warm_inference(failed) is cell.inferences[1]
    assert warm_inference(replace(cell, inferences=cell.inferences[:1])) is None
