"""JUnit XML: its shape, its counts, and every finding in it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from harness.errors import BoardError
from harness.results.finding import Finding
from harness.results.junit import to_junit
from harness.results.report import ModelReport, Report

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "property": set(),
    "testcase": {"skipped", "error", "failure"},
    "skipped": set(),
    "error": set(),
    "failure": set(),
}
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "testcase": {"name", "classname"},
    "properties": set(),
    "property": {"name", "value"},
    "skipped": {"message"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
}
"""The elements and attributes that Jenkins' xUnit schema and GitLab have in common."""


def parsed(report: Report) -> ET.Element:
    return ET.fromstring(to_junit(report))  # noqa: S314 - our own text


def case(root: ET.Element, model: str, name: str) -> ET.Element:
    (found,) = [
        each for each in root.iter("testcase") if (each.get("classname"), each.get("name")) == (model, name)
    ]
    return found


def test_elements_and_attributes_are_those_that_ci_systems_read(mixed: Report) -> None:
    for element in parsed(mixed).iter():
        assert {child.tag for child in element} <= CHILDREN[element.tag]
        assert set(element.keys()) == ATTRIBUTES[element.tag]


@pytest.mark.parametrize(
    ("attribute", "tag"), [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
)
def test_counts_are_those_of_the_cases(mixed: Report, attribute: str, tag: str) -> None:
    for suite in [root := parsed(mixed), *root]:
        if attribute not in ATTRIBUTES[suite.tag]:
            continue
        assert int(suite.attrib[attribute]) == len(list(suite.iter(tag)))
        assert int(suite.attrib["tests"]) == len(list(suite.iter("testcase")))


def test_there_is_one_suite_for_each_model_and_one_case_for_each_mode(sound: Report, modes) -> None:
    root = parsed(sound)
    assert [suite.get("name") for suite in root] == ["resnet8", "ds_cnn"]
    for suite in root:
        names = [each.get("name") for each in suite.iter("testcase")]
        assert names == [*map(str, modes), "run", "reference"]


def test_a_sound_report_has_nothing_but_passed_cases(sound: Report) -> None:
    assert all(len(each) == 0 for each in parsed(sound).iter("testcase"))


def test_a_finding_fails_the_case_of_its_mode(mixed: Report, modes) -> None:
    failure = case(parsed(mixed), "ds_cnn", str(modes[-1])).find("failure")
    assert failure is not None
    assert failure.get("type") == "outputs-modes"
    assert "byte 17" in failure.get("message", "")


def test_several_findings_of_one_mode_are_all_told_in_one_failure(make, modes) -> None:
    findings = [Finding("npu-cycles", modes[1], index, f"seeded {index}") for index in range(3)]
    (failure,) = case(parsed(make.report(make.model("ds_cnn", *findings))), "ds_cnn", str(modes[1]))
    assert failure.get("message", "").endswith("(and 2 more)")
    assert all(f"seeded {index}" in (failure.text or "") for index in range(3))


def test_a_fault_is_an_error_not_a_failure(make, modes) -> None:
    root = parsed(make.report(make.model("ds_cnn", Finding("status", modes[1], 1, "timeout"))))
    assert case(root, "ds_cnn", str(modes[1])).find("error") is not None


def test_a_finding_of_the_whole_run_is_not_lost(make) -> None:
    root = parsed(make.report(make.model("ds_cnn", Finding("status", None, None, "the run ended early"))))
    (error,) = case(root, "ds_cnn", "run")
    assert "the run ended early" in (error.text or "")


def test_an_error_has_its_message_evidence_and_hint(mixed: Report) -> None:
    (error,) = case(parsed(mixed), "broken", "run")
    assert (error.tag, error.get("type"), error.get("message")) == (
        "error",
        "BuildError",
        "zig failed with code 1",
    )
    assert (error.text or "").splitlines() == [
        "zig failed with code 1",
        "plan.c:3: error",
        "hint: run `harness doctor`",
    ]


def test_modes_of_a_model_with_an_error_are_skipped_not_passed(mixed: Report, modes) -> None:
    root = parsed(mixed)
    assert all(case(root, "broken", str(mode)).find("skipped") is not None for mode in modes)


def test_outputs_without_a_reference_are_skipped_with_the_reason(mixed: Report) -> None:
    (skipped,) = case(parsed(mixed), "own", "reference")
    assert (skipped.tag, skipped.get("message")) == ("skipped", "not compared: it was compiled before")


def test_outputs_unlike_the_reference_fail_its_case_too(make, modes) -> None:
    root = parsed(make.report(make.model("ds_cnn", Finding("outputs-reference", modes[0], 0, "differs"))))
    assert case(root, "ds_cnn", "reference").find("failure") is not None


def test_a_model_without_result_and_error_is_an_error(make) -> None:
    assert parsed(make.report(ModelReport("lost"))).get("errors") == "1"


def test_characters_that_xml_cannot_hold_are_replaced(make) -> None:
    lost = replace(make.failed(), name="a\x00<b>&", error=BoardError("\x1b[31mred\ud800"))
    root = parsed(make.report(lost))
    assert root[0].get("name") == "a\ufffd<b>&"
    assert case(root, "a\ufffd<b>&", "run")[0].get("message") == "\ufffd[31mred\ufffd"
