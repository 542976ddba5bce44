"""`harness compare` on a board that boots Linux: two builds of a runner, and their table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.cli.table import SHOWN_FINDINGS, WIDTH, print_error
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.results.runner_comparison import TimeChange
    from harness.results.runner_report import RunnerModelReport, RunnerReport

_NOT_HERE = ("modes", "copies", "together", "scratch", "zeroing", "keep_state", "npu_checks")
_NO_REPORTS = ("html", "markdown", "junit")
_FOOT = """\
Wall: milliseconds of Method::execute() as the runner logs them, the wait for the NPU included.
CPU: user and system time of one further inference, by the shell's `times`, which counts in 10 ms;
more --inferences make it finer.{uncertainty} First inferences are left out.
{whose}
Asserted are equal bytes and equal NPU cycles; times decide nothing. Outputs are those of a
process's last inference: runners write no others. Reference: not compared.\
"""
_WHOSE = {
    "simulator": "All figures are the simulator's.",
    "fvp": "All figures are those of Arm's model, and no hardware's.",
    "hardware": "All figures are measured.",
}


def compare_on_linux(
    context: click.Context, models: Sequence[str], inferences: int, chosen: Mapping[str, Any]
) -> int:
    """Do what `harness compare` was asked for on a board that boots Linux; returns the exit code.

    Raises UsageError for options that mean nothing there, and what `compare_runners` raises.
    """
    from harness.cli.options import settings_from
    from harness.cli.progress import showing_progress
    from harness.linux.implementation import parse_runner_implementations
    from harness.linux.lane import compare_runners
    from harness.plan import Load

    _refuse_options(context)
    if not models or inferences < 2:
        raise UsageError("on Linux a comparison needs models, and 2 inferences at least")
    implementations = parse_runner_implementations(chosen["implementations"])
    given = {name: value for name, value in chosen.items() if name != "implementations"}
    settings = settings_from("all", {**given, "load": Load(inferences)})
    path: Path | None = context.params["json"]
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise UsageError(f"cannot write {path}: its folder does not exist, or it is a folder itself")
    with showing_progress() as progress:
        report = compare_runners(models, implementations, settings, progress)
    if path is not None:
        path.write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")
    print_runner_report(report, Console(width=WIDTH))
    return report.exit_code


def _refuse_options(context: click.Context) -> None:
    for name in (*_NOT_HERE, *_NO_REPORTS):
        if context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None):
            option = next(each.opts[0] for each in context.command.params if each.name == name)
            raise UsageError(
                f"{option} means nothing on a board that boots Linux: lifetimes there are the runner's own"
                if name in _NOT_HERE
                else f"{option} is not written for a board that boots Linux; --json is"
            )


def print_runner_report(report: RunnerReport, console: Console) -> None:
    """Print the table, what was found, and what the figures mean."""
    console.print(_table(report))
    for model in report.models:
        _print_trouble(model, console)
    changes = [each for model in report.models if model.comparison for each in model.comparison.changes]
    worst = max((change.cpu_uncertainty_ms for change in changes), default=None)
    foot = _FOOT.format(
        uncertainty="" if worst is None else f" Here it is right to {worst:.2g} ms.",
        whose=_WHOSE[report.source],
    )
    console.print(foot, style="dim", highlight=False, soft_wrap=True)
    colour = {"pass": "green", "fail": "red", "error": "red"}[report.verdict]
    console.print(f"verdict: [bold {colour}]{report.verdict}[/]", highlight=False)


def _table(report: RunnerReport) -> Table:
    table = Table(
        title=f"Milliseconds per inference of two runners under Linux, before → after\n"
        f"board {report.board} ({report.source} {escape(report.versions['board'])}), "
        f"{report.npu}, Linux {escape(report.versions['linux'])}",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for heading in ("model", "runners"):
        table.add_column(heading, overflow="fold")
    for heading in ("wall", "saved", "CPU", "saved"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("outputs", "NPU cycles"):
        table.add_column(heading)
    for model in report.models:
        for row in _rows(model):
            table.add_row(*row)
    return table


def _rows(model: RunnerModelReport) -> list[tuple[str, ...]]:
    name, comparison = escape(model.compiled.name), model.comparison
    if comparison is None:
        return [(name, "", "", "", "", "", "[red]error[/]", "")]
    cycles = f"{model.trials[0].several.inferences[0].npu_cycles:,}".replace(",", " ")
    outputs = _sign(comparison.outputs_identical, "identical", "DIFFER")
    same = f"{cycles} {_sign(comparison.npu_cycles_identical, 'same', 'DIFFER')}"
    return [(name, *_times(change), outputs, same) for change in comparison.changes]


def _times(change: TimeChange) -> tuple[str, ...]:
    cpu = change.cpu_percent
    return (
        escape(f"{change.before} → {change.after}"),
        f"{change.before_wall_ms:.2f} → {change.after_wall_ms:.2f}",
        f"{change.wall_percent:.1f} %",
        " → ".join(
            _measured(ms, change.cpu_uncertainty_ms) for ms in (change.before_cpu_ms, change.after_cpu_ms)
        ),
        "unclear" if cpu is None else f"{cpu:.1f} %",
    )


def _measured(ms: float, uncertainty_ms: float) -> str:
    """A time, or what it is below where the clock cannot tell it from nothing."""
    return f"{ms:.2f}" if ms > uncertainty_ms else f"< {max(ms, 0.0) + uncertainty_ms:.2g}"


def _sign(good: bool, yes: str, no: str) -> str:
    return f"[green]{yes}[/]" if good else f"[bold red]{no}[/]"


def _print_trouble(model: RunnerModelReport, console: Console) -> None:
    name = model.compiled.name
    if model.error is not None:
        print_error(model.error, console, prefix=f"{name}: ")
    findings = () if model.comparison is None else model.comparison.findings
    for check in dict.fromkeys(finding.check for finding in findings):
        found = [finding for finding in findings if finding.check == check]
        for finding in found[:SHOWN_FINDINGS]:
            console.print(f"[red]{escape(name)}[/]: {escape(str(finding))}", highlight=False)
        if more := len(found) - SHOWN_FINDINGS if len(found) > SHOWN_FINDINGS else 0:
            console.print(f"[red]{escape(name)}[/]: {check}: {more} more, see --json")
