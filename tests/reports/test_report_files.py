"""`harness compare` writes each report where it was asked to, and says how to reproduce it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from harness.cli.command_line import run_command_line
from harness.cli.report_files import STEP_SUMMARY
from harness.results.report import Report


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, outside any job of a CI system."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(STEP_SUMMARY, raising=False)
    return tmp_path


@pytest.fixture
def compared(here: Path, mixed: Report, monkeypatch: pytest.MonkeyPatch) -> Report:
    """The report that every comparison comes to."""
    monkeypatch.setattr("harness.pipeline.compare_models", lambda *_arguments, **_options: mixed)
    return mixed


def test_each_format_is_written_to_its_file(compared: Report, here: Path) -> None:
    names = {"--html": "r.html", "--markdown": "r.md", "--junit": "r.xml", "--json": "r.json"}
    words = [word for pair in names.items() for word in pair]
    assert run_command_line(["compare", *words]) == compared.exit_code
    assert (here / "r.html").read_text().startswith("<!doctype html>")
    assert (here / "r.md").read_text().startswith("## ")
    assert ET.parse(here / "r.xml").getroot().tag == "testsuites"  # noqa: S314 - our own file
    assert json.loads((here / "r.json").read_text())["verdict"] == "error"


def test_markdown_on_standard_output_takes_the_place_of_the_table(
    compared: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    run_command_line(["compare", "--markdown", "-"])
    printed = capsys.readouterr().out
    assert printed.startswith("## ")
    assert "verdict: " not in printed


def test_reports_name_the_command_as_it_was_typed(compared: Report, here: Path) -> None:
    run_command_line(["compare", "my model.tflite", "--macs", "512", "--markdown", "r.md"])
    assert "harness compare 'my model.tflite' --macs 512 --markdown r.md\n" in (here / "r.md").read_text()


def test_the_summary_of_a_job_is_appended_to(
    compared: Report, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "summary.md").write_text("earlier step\n")
    monkeypatch.setenv(STEP_SUMMARY, str(here / "summary.md"))
    run_command_line(["compare"])
    assert (here / "summary.md").read_text().startswith("earlier step\n## ")


@pytest.mark.parametrize("option", ["--json", "--html", "--markdown", "--junit"])
def test_a_file_that_cannot_be_written_is_refused_before_any_work(
    option: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("harness.pipeline.compare_models", None)
    assert run_command_line(["compare", option, "no/such/file"]) == 2
    assert "cannot write no/such/file" in capsys.readouterr().err


def test_a_job_summary_that_cannot_be_written_is_refused_before_any_work(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("harness.pipeline.compare_models", None)
    monkeypatch.setenv(STEP_SUMMARY, str(here / "missing" / "summary.md"))
    assert run_command_line(["compare"]) == 2
    assert "summary.md" in capsys.readouterr().err
