"""docs/mock-fvp.md tells the truth, and every symptom is shown by a test of this folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.testing import Symptom

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "mock-fvp.md"


def test_the_table_lists_every_symptom_in_order():
    rows = re.findall(r"^\| `([A-Z_\d]+)` \| (.+) \| (.+) \|$", DOCUMENT.read_text(), re.MULTILINE)
    assert rows == [(symptom.name, symptom.text, symptom.source) for symptom in Symptom]


def test_the_example_runs(pytester):
    example = re.search(r"^```python\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    pytester.makepyfile(example[1])
    pytester.runpytest("-p", "no:xdist", "-p", "no:cacheprovider").assert_outcomes(passed=3)


@pytest.mark.parametrize("symptom", Symptom, ids=lambda symptom: symptom.value)
def test_every_symptom_is_shown_by_a_test(symptom):
    tests = "".join(file.read_text() for file in HERE.glob("test_*.py"))
    assert re.search(rf"\bSymptom\.{symptom.name}\b", tests)
