"""Every field of the JSON result is in its description."""

from __future__ import annotations

import json
import re
from pathlib import Path

from harness.cli.command_line import run_command_line

PROGRAM = Path(__file__).parents[1] / "executorch" / "programs" / "keywords.pte"  #: for 128 MACs
DOCUMENT = Path(__file__).parents[2] / "docs" / "results.md"
NAMED_BY_DATA = ("parts", "versions")  #: their fields are what a result happens to have


def fields(value: object) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(fields, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(fields(inner) for key, inner in value.items() if key not in NAMED_BY_DATA))


def test_every_field_is_described(tmp_path):
    report = tmp_path / "result.json"
    assert run_command_line(["compare", "ds_cnn", "--json", str(report)]) == 0
    described = {name for code in re.findall(r"`([^`]+)`", DOCUMENT.read_text()) for name in code.split(".")}
    found = fields(json.loads(report.read_text()))
    assert len(found) > 60
    assert found <= described


def test_the_fields_of_an_error_are_described(tmp_path):
    report = tmp_path / "result.json"
    arguments = ["compare", str(PROGRAM), "--macs", "512", "--json", str(report)]
    assert run_command_line(arguments) == 2
    described = set(re.findall(r"`([^`]+)`", DOCUMENT.read_text()))
    assert "error" in json.loads(report.read_text())["models"][0]
    assert {name for each in json.loads(report.read_text())["models"] for name in each} <= described
