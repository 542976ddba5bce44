"""A report as Markdown, ready for a pull request."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from harness.results.changes import HOST_TIME_NOTE, Change, Effect, changes, count_name
from harness.results.finding import Finding
from harness.results.report import Report
from harness.results.summary import ModelSummary, Summary, summarise

_NOTHING = "-"  #: stands in the place of a figure that was not measured
_MARKS = {"pass": "✅ pass", "fail": "❌ fail", "error": "⚠️ error"}


def to_markdown(report: Report, command: Sequence[str]) -> str:
    """The report as GitHub-flavoured Markdown; `command` is what was typed, word by word."""
    summary = summarise(report)
    steps = changes(summary)
    sections = (
        _verdict(summary),
        _sameness(summary),
        _listed("Findings", _findings(summary)),
        _listed("Not compared", _gaps(summary)),
        *(_change(change) for change in steps),
        HOST_TIME_NOTE if any(not change.is_driver for change in steps) else "",
        f"Reproduce with\n\n{_fenced(shlex.join(command))}",
        _versions(report),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _verdict(summary: Summary) -> str:
    report = summary.report
    fixed = f", {summary.fixed} in all modes" if summary.fixed else ""
    return (
        f"## {_MARKS[report.verdict]}: {summary.headline}\n\n"
        f"{report.npu} on board {_code(report.board)} ({report.source}){fixed}."
    )


def _sameness(summary: Summary) -> str:
    heading = ("model", "verdict", "outputs", f"NPU cycles ({summary.cycles_origin})", "reference")
    return _table("What is identical", heading, (_same_row(model) for model in summary.models))


def _same_row(model: ModelSummary) -> tuple[str, ...]:
    cycles = "" if model.cycles is None else f"{_number(model.cycles)}, "
    return (
        _code(model.report.name),
        _MARKS[model.report.verdict],
        str(model.outputs),
        f"{cycles}{model.npu_cycles}",
        str(model.reference) + (f" ({_code(model.oracle)})" if model.oracle else ""),
    )


def _change(change: Change) -> str:
    """Driver objects lead with their instructions and percentage, everything else with its counts."""
    counts = change.counts
    headings = [count_name(count) for count in counts]
    if change.is_driver:
        headings = ["CPU instructions", "saved", *headings]
    else:
        headings = [*headings, "CPU instructions"]
    rows = (_change_row(change, effect, counts) for effect in change.effects)
    return _table(f"Per inference: {change.title}", ("model", *headings), rows, right_from=1)


def _change_row(change: Change, effect: Effect, counts: Sequence[str]) -> tuple[str, ...]:
    moved = [_step(*effect.counts[count]) if count in effect.counts else _NOTHING for count in counts]
    saving = effect.saving
    cost = _NOTHING if saving is None else _step(saving.before_instructions, saving.after_instructions)
    if not change.is_driver:
        return (_code(effect.model), *moved, cost)
    return (_code(effect.model), cost, _NOTHING if saving is None else f"{saving.percent:.1f} %", *moved)


def _findings(summary: Summary) -> Iterator[str]:
    for model in summary.models:
        for finding in model.findings:
            yield f"{_code(model.report.name)}: {_finding(finding)}"


def _finding(finding: Finding) -> str:
    place = "" if finding.mode is None else f" in {_code(str(finding.mode))}"
    place += "" if finding.index is None else f", inference {finding.index}"
    return f"**{finding.check}**{place}: {_code(finding.detail)}"


def _gaps(summary: Summary) -> Iterator[str]:
    for gap in summary.gaps:
        model = "" if gap.model is None else f"{_code(gap.model)}: "
        yield f"{model}{gap.text} ({_code(gap.why)})"


def _versions(report: Report) -> str:
    named = {"harness": report.tool_version, **report.versions}
    return "Versions: " + ", ".join(f"{_code(f'{name} {version}')}" for name, version in named.items())


def _listed(title: str, items: Iterable[str]) -> str:
    lines = [f"* {item}" for item in items]
    return "\n".join((f"### {title}\n", *lines)) if lines else ""


def _table(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], *, right_from: int | None = None
) -> str:
    """A table; the columns from `right_from` on are numbers, set to the right."""
    edge = len(headings) if right_from is None else right_from
    rule = ["---" if column < edge else "--:" for column in range(len(headings))]
    # A bar within a cell must be escaped, even in code: tables are split first (GFM 4.10).
    cells = ([cell.replace("|", "\\|") for cell in row] for row in (headings, rule, *rows))
    lines = ("| " + " | ".join(row) + " |" for row in cells)
    return f"### {title}\n\n" + "\n".join(lines)


def _step(before: float, after: float) -> str:
    return _number(before) if before == after else f"{_number(before)} → {_number(after)}"


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def _code(text: str) -> str:
    """A code span that shows any text as it is: no markup and no mention within it."""
    line = " ".join(text.split()) or " "
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def _fenced(text: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}sh\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
