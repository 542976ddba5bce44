"""A comparison as a table that fits 100 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.results.changes import HOST_TIME_NOTE, Change, Effect, changes, count_name
from harness.results.summary import summarise

if TYPE_CHECKING:
    from harness.results.board_report import Source
    from harness.results.finding import Finding
    from harness.results.report import ModelReport, Report

WIDTH = 100
SHOWN_FINDINGS = 2  #: of each check; the first is the cause, the rest are mostly its consequences
SHOWN_COUNTS = {"maps": "maps", "tlb": "TLB ops", "allocations": "allocations", "reused": "reused"}
"""The counts that tell io and temp apart, and their headings: as many as fit beside the instructions."""

_FOOT = """\
CPU: instructions of execute() per inference, all phases but the wait for the NPU, first inference
left out. Explained: by objects and bytes at calibrated prices. {origin}
Asserted are equal bytes, equal NPU cycles and the direction of the saving. The milliseconds
published for this change under Linux are cited, not reproduced: they contain kernel entry, wake-up
and page faults. The figures here grow with the compiled bytes, so the order of the models may
differ.\
"""

_ORIGINS: Mapping[Source, str] = {
    "simulator": "NPU cycles are an estimate.",
    "fvp": "Instructions and NPU cycles are\nthose of Arm's model, and no hardware's time.",
    "hardware": "NPU cycles are measured.",
}


def print_report(report: Report, console: Console) -> None:
    """Print the table, what was found, and what the figures mean."""
    console.print(_table(report))
    steps = [change for change in changes(summarise(report)) if not change.is_driver]
    if steps:
        console.print(_axes_table(steps))
    if any(model.persistence for model in report.models):
        console.print(_price_table(report))
    for model in report.models:
        if model.implementations:
            console.print(_implementation_table(model))
    if steps:
        console.print(HOST_TIME_NOTE, style="dim", highlight=False)
    for model in report.models:
        _print_trouble(model, console)
    console.print(_FOOT.format(origin=_ORIGINS[report.source]), style="dim", highlight=False, soft_wrap=True)
    colour = {"pass": "green", "fail": "red", "error": "red"}[report.verdict]
    console.print(f"verdict: [bold {colour}]{report.verdict}[/]", highlight=False)


def _table(report: Report) -> Table:
    versions = report.versions
    table = Table(
        title=f"CPU instructions with driver objects per inference → persistent\n"
        f"board {report.board} ({report.source}), {report.npu}, Vela {versions.get('vela', '?')}",
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
    saving = comparison.driver_saving
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


def _axes_table(steps: Sequence[Change]) -> Table:
    """For each model what each other axis alone, and all together, change; instructions last."""
    table = Table(
        title="Per inference, before → after, by the axis that is kept longer",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("model", overflow="fold")
    table.add_column("axis")
    for heading in (*SHOWN_COUNTS.values(), "CPU instructions"):
        table.add_column(heading, justify="right")
    for model in dict.fromkeys(effect.model for step in steps for effect in step.effects):
        shown = escape(model)
        for step in steps:
            for effect in step.effects:
                if effect.model == model:
                    table.add_row(shown, axis_name(step), *_effect_row(effect))
                    shown = ""
    return table


def _effect_row(effect: Effect) -> tuple[str, ...]:
    counts = (_step(*effect.counts[count]) if effect.moved(count) else "=" for count in SHOWN_COUNTS)
    saving = effect.saving
    cost = "" if saving is None else _step(saving.before_instructions, saving.after_instructions)
    return (*counts, cost)


def axis_name(step: Change) -> str:
    """The axis that a step changes, or that it changes all."""
    return step.axes[0] if len(step.axes) == 1 else "all"


def _step(before: float, after: float) -> str:
    return f"{_number(before)} → {_number(after)}"


def _price_table(report: Report) -> Table:
    """What the mode that keeps most holds and costs, beside what it saves."""
    table = Table(
        title="The price of persistence",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("model", overflow="fold")
    for heading in ("bytes held", "pool peak", "initialisation", "pays off after", "pool ends after"):
        table.add_column(heading, justify="right")
    for model in report.models:
        if model.persistence:
            price = model.persistence[-1]
            after = "never" if price.pays_off_after is None else f"{price.pays_off_after} inferences"
            table.add_row(
                escape(model.name),
                _number(price.held_bytes),
                _number(price.peak_bytes),
                f"{_number(price.initialisation)} instr.",
                after,
                "-" if price.most_loaded is None else f"{price.most_loaded} loaded",
            )
    return table


def _implementation_table(model: ModelReport) -> Table:
    """Each mode in two implementations: instructions, and the counts that differ."""
    first = model.implementations[0]
    table = Table(
        title=f"{escape(model.name)}: CPU instructions, {escape(first.before)} → {escape(first.after)}",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for heading in ("driver", "io", "temp"):
        table.add_column(heading)
    for heading in ("instructions", "saved"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("counts that differ", overflow="fold")
    for change in model.implementations:
        counts = ", ".join(f"{count_name(name)} {_step(*pair)}" for name, pair in change.counts.items())
        cost = _step(change.before_instructions, change.after_instructions)
        table.add_row(*map(str, change.mode.axes), cost, f"{change.percent:.1f} %", counts or "none")
    return table


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
    by_check: dict[str, list[Finding]] = {}
    for finding in model.comparison.findings:
        by_check.setdefault(finding.check, []).append(finding)
    for check, found in by_check.items():
        for finding in found[:SHOWN_FINDINGS]:
            console.print(f"[red]{escape(model.name)}[/]: {escape(str(finding))}", highlight=False)
        if len(found) > SHOWN_FINDINGS:
            more = len(found) - SHOWN_FINDINGS
            console.print(f"[red]{escape(model.name)}[/]: {check}: {more} more, see --json or --html")
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
