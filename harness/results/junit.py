"""A report as JUnit XML: one suite for each model, one case for each mode.

A case has at most one failure or error, as some readers show only the first; its text holds every finding.
The shape is the one that Jenkins' xUnit schema (junit-10.xsd) and GitLab have in common.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence

from harness.results.finding import Finding
from harness.results.report import Report
from harness.results.summary import ModelSummary, Sameness, summarise

_COUNTED_AS = {"failure": "failures", "error": "errors", "skipped": "skipped"}

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Whatever XML 1.0 (section 2.2) does not allow as a character; a console can say it all the same."""


def to_junit(report: Report) -> str:
    """The report as an XML document."""
    root = ET.Element("testsuites", name="corstone-harness")
    for model in summarise(report).models:
        suite = ET.SubElement(root, "testsuite", name=_text(model.report.name))
        properties = ET.SubElement(suite, "properties")
        for name, value in _properties(report):
            ET.SubElement(properties, "property", name=_text(name), value=_text(value))
        _add_cases(suite, model)
        _add_counts(suite, ("failure", "error", "skipped"))
    _add_counts(root, ("failure", "error"))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _properties(report: Report) -> Iterable[tuple[str, str]]:
    yield "harness", report.tool_version
    yield "board", f"{report.board} ({report.source})"
    yield "npu", report.npu
    yield from report.versions.items()


def _add_cases(suite: ET.Element, model: ModelSummary) -> None:
    for cell in model.cells:
        case = _case(suite, model, str(cell.mode))
        if cell.verdict == "not run":
            ET.SubElement(case, "skipped", message="this mode did not end; see the case 'run'")
        _add_findings(case, cell.findings)
    run = _case(suite, model, "run")
    _add_findings(run, model.elsewhere)
    _add_error(run, model)
    reference = _case(suite, model, "reference")
    _add_reference(reference, model)


def _case(suite: ET.Element, model: ModelSummary, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=_text(model.report.name), name=_text(name))


def _add_findings(case: ET.Element, findings: Sequence[Finding]) -> None:
    if not findings:
        return
    tag = "error" if any(finding.check == "status" for finding in findings) else "failure"
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    element = ET.SubElement(case, tag, type=_text(findings[0].check), message=_text(f"{findings[0]}{more}"))
    element.text = _text("\n".join(map(str, findings)))


def _add_error(case: ET.Element, model: ModelSummary) -> None:
    error = model.report.error
    if error is None:
        if model.report.comparison is None:
            ET.SubElement(case, "error", type="missing", message="the model has neither result nor error")
        return
    element = ET.SubElement(case, "error", type=type(error).__name__, message=_text(str(error)))
    hint = (f"hint: {error.hint}",) if error.hint else ()
    element.text = _text("\n".join((str(error), *error.evidence, *hint)))


def _add_reference(case: ET.Element, model: ModelSummary) -> None:
    if model.report.comparison is None:
        ET.SubElement(case, "skipped", message="the model was not run; see the case 'run'")
    elif model.reference is Sameness.NOT_COMPARED:
        why = model.report.comparison.oracle_reason
        ET.SubElement(case, "skipped", message=_text(f"not compared: {why}"))
    elif model.reference is not Sameness.SAME:
        message = f"outputs held against {model.report.comparison.oracle}: {model.reference}"
        ET.SubElement(case, "failure", type="outputs-reference", message=_text(message))


def _add_counts(element: ET.Element, outcomes: Iterable[str]) -> None:
    element.set("tests", str(len(list(element.iter("testcase")))))
    for outcome in outcomes:
        element.set(_COUNTED_AS[outcome], str(len(list(element.iter(outcome)))))


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
