"""A comparison as a table that fits 100 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from harness.results.report import ModelReport, Report

WIDTH = 100

_FOOT = """\
CPU: instructions of execute() per inference, all phases but the wait for the NPU, first inference
left out. Explained: by objects and bytes at calibrated prices. NPU cycles are an estimate.
Asserted are equal bytes, equal NPU cycles and the direction of the saving. The milliseconds
published for this change under Linux are cited, not reproduced: they contain kernel entry, wake-up
and page faults. The figures here grow with the compiled bytes, so the order of the models may
differ.\
"""


def print_report(report: Report, console: Console) -> None:
    """Print the table, what was found, and what the figures mean."""
    console.print(_table(report))
    for model in report.models:
        _print_trouble(model, console)
    console.print(_FOOT, style="dim", highlight=False, soft_wrap=True)
    colour = {"pass": "green", "fail": "red", "error": "red"}[report.verdict]
    console.print(f"verdict: [bold {colour}]{report.verdict}[/]", highlight=False)


def _table(report: Report) -> Table:
    versions = report.versions
    table = Table(
        title=f"CPU instructions with driver objects per inference → persistent\n"
        f"board {report.board} ({report.source}), Ethos-U85-{report.macs}, Vela {versions.get('vela', '?')}",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("model", overflow="fold")
    for heading in ("before →", "after", "saved", "explained"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("outputs", "NPU cycles", "reference"):
        table.add_column(heading)
    for model in report.models:
        table.add_row(*_row(model))
    return table


def _row(model: ModelReport) -> tuple[str, ...]:
    comparison = model.comparison
    if comparison is None:
        return (escape(model.name), "", "", "", "", "[red]error[/]", "", "")
    saving = comparison.savings[0] if comparison.savings else None
    explained = None if model.explanation is None else 100.0 - model.explanation.residual_percent
    return (
        escape(model.name),
        "" if saving is None else _number(saving.before_instructions),
        "" if saving is None else _number(saving.after_instructions),
        "" if saving is None else f"{saving.percent:.1f} %",
        "" if explained is None else f"{explained:.1f} %",
        _sign(comparison.outputs_identical, "identical", "DIFFER"),
        f"{_cycles(model)} {_sign(comparison.npu_cycles_identical, 'same', 'DIFFER')}",
        "not compared"
        if comparison.reference_equal is None
        else _sign(comparison.reference_equal, "equal", "DIFFERS"),
    )


def _cycles(model: ModelReport) -> str:
    cells = model.run.cells if model.run is not None else ()
    return _number(cells[0].inferences[0].npu_cycles) if cells and cells[0].inferences else "-"


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def _sign(good: bool, yes: str, no: str) -> str:
    return f"[green]{yes}[/]" if good else f"[bold red]{no}[/]"


def _print_trouble(model: ModelReport, console: Console) -> None:
    if model.error is not None:
        print_error(model.error, console, prefix=f"{model.name}: ")
    if model.comparison is None:
        return
    for finding in model.comparison.findings:
        console.print(f"[red]{escape(model.name)}[/]: {escape(str(finding))}", highlight=False)
    if model.comparison.reference_equal is None:
        why = model.comparison.oracle_reason
        console.print(f"{escape(model.name)}: reference: not compared ({escape(why)})", highlight=False)


def print_error(error: Exception, console: Console, prefix: str = "") -> None:
    """One line that says what was wrong, then the evidence and what to do next."""
    console.print(f"[bold red]error:[/] {escape(prefix + str(error))}", highlight=False, soft_wrap=True)
    for line in getattr(error, "evidence", ()):
        console.print(f"  | {escape(line)}", style="dim", highlight=False, soft_wrap=True)
    hint = getattr(error, "hint", "")
    if hint:
        console.print(f"  hint: {escape(hint)}", highlight=False, soft_wrap=True)
