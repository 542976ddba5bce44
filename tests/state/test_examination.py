"""A network with variables from its file to a verdict, and what would be wrong verdicts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.cli.command_line import run_command_line
from harness.errors import ExitCode
from harness.examination import SEQUENCE, examine, prepare, run_plan
from harness.models.catalog import load_model
from harness.plan import ALL_MODES, DRIVER_MODES, PER_INFERENCE, Load, plan_comparison
from harness.results.assembly import assemble
from harness.results.equivalence import compare
from harness.results.npu_checks import npu_check_findings, stream_checks


@pytest.mark.parametrize(("name", "keep_state"), [("accumulator", False), ("lstm", True)])
def test_two_copies_pass_with_all_checks(networks, settings, name, keep_state):
    load = Load(inferences=4, copies=2, keep_state=keep_state)
    chosen = replace(settings, modes=DRIVER_MODES, npu_checks=True, load=load)
    ((_, comparison),) = examine([prepare(networks[name], chosen)], chosen)
    assert comparison.findings == ()
    assert comparison.reference_equal


def test_kept_state_is_left_alone_where_there_is_none(settings):
    chosen = replace(settings, load=Load(keep_state=True))
    assert [each.label for each in prepare(load_model("ds_cnn"), chosen).inputs] == ["A", "B"]


def test_the_same_input_at_another_place_is_no_repetition(adding, prepared, run):
    """Without histories, kept state would be taken for something left over."""
    feeding = prepared(adding, False)
    plan = replace(plan_comparison(feeding.planned, (PER_INFERENCE,), SEQUENCE), keep_state=True)
    found = {finding.check for finding in compare(run(plan), feeding.reference, None).findings}
    assert found >= {"outputs-repeat", "outputs-reference"}


def test_variables_count_as_written_before_the_stream_starts(recurrent, prepared, settings):
    feeding = prepared(recurrent, False)
    plan = plan_comparison(feeding.planned, ALL_MODES, SEQUENCE)
    record = assemble(run_plan(plan, replace(settings, npu_checks=True).with_checks()), plan)
    said = stream_checks(record.noise)
    written = (*recurrent.inputs, *recurrent.variables)
    assert list(npu_check_findings(said, record, 0, written)) == []
    forgotten = [finding.detail for finding in npu_check_findings(said, record, 0, recurrent.inputs)]
    assert {detail.partition(":")[0] for detail in forgotten} == {"read-unwritten"}


def test_the_command_line_keeps_state_and_the_report_says_so(networks, tmp_path, capsys):
    path, report = tmp_path / "recurrent.tflite", tmp_path / "report.json"
    path.write_bytes(networks["lstm"].data)
    options = ["--modes", "driver", "--keep-state", "--scratch", "temp", "--json", str(report)]
    assert run_command_line(["compare", str(path), *options]) == ExitCode.OK
    assert "verdict: pass" in capsys.readouterr().out
    assert json.loads(report.read_text())["load"] == {
        "inferences": 3,
        "copies": 1,
        "scratch": "temp",
        "zeroing": "kernel",
        "keep_state": True,
        "together": False,
    }
