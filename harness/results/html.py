"""A report as one self-contained HTML page: nothing is loaded, nothing is run."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import jinja2

from harness.data_files import data_folder
from harness.plan import Mode
from harness.results.changes import HOST_TIME_NOTE, changes, count_name
from harness.results.chart import Chart, chart
from harness.results.difference import CONTEXT_BYTES, OutputDifference, first_output_difference
from harness.results.report import ModelReport, Report
from harness.results.run_record import COST_PHASES, PHASES, CellRecord, Stage
from harness.results.summary import ModelSummary, cell_in, summarise, value_on, warm_inference

MARKS = {"pass": "✓", "fail": "✕", "error": "!", "not run": "·"}


@dataclass(frozen=True)
class Row:
    """One figure in every mode; None where it was not measured."""

    name: str
    values: tuple[int | None, ...]


@dataclass(frozen=True)
class Group:
    """Figures that belong to one part of a cell's life."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class ModelView:
    """What the page shows of one model, beyond its row of the grid."""

    summary: ModelSummary
    chart: Chart | None
    counts: tuple[Group, ...]
    details: tuple[Group, ...]  #: shown on demand
    difference: OutputDifference | None


def to_html(report: Report, command: Sequence[str]) -> str:
    """The report as a page; `command` is what was typed, word by word."""
    summary = summarise(report)
    return _template().render(
        report=report,
        summary=summary,
        models=[_view(model, summary.modes) for model in summary.models],
        changes=changes(summary),
        command=shlex.join(command),
        phases=COST_PHASES,
        apart=[phase for phase in PHASES if phase not in COST_PHASES],
        host_time_note=HOST_TIME_NOTE,
        context_bytes=CONTEXT_BYTES,
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("templates")),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "words": _words, "percent": "{:.4%}".format}
    environment.globals |= {"marks": MARKS, "count_name": count_name, "value_on": value_on}
    return environment.get_template("report.html.j2")


def _number(value: float) -> str:
    """Thousands set apart by a narrow space that does not break."""
    return f"{value:,.0f}".replace(",", "\u202f")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _view(model: ModelSummary, modes: Sequence[Mode]) -> ModelView:
    report = model.report
    chosen = [cell_in(report, mode) for mode in modes]
    return ModelView(
        summary=model,
        chart=chart(report, modes),
        counts=tuple(_counts(chosen)),
        details=tuple(_details(chosen)),
        difference=_difference(report),
    )


def _counts(cells: Sequence[CellRecord | None]) -> Iterator[Group]:
    yield Group("each inference, once warm", _used(_rows(cells, _warm_counts, count_name)))
    yield Group("from initialisation to destroy", _rows(cells, _whole_cell, _words))


def _details(cells: Sequence[CellRecord | None]) -> Iterator[Group]:
    yield Group("instructions of each inference, once warm", _used(_rows(cells, _warm_phases, _words)))
    yield Group("instructions of initialisation", _used(_rows(cells, lambda cell: cell.init.phases, _words)))
    yield Group("instructions of destroy", _used(_rows(cells, lambda cell: cell.destroy.phases, _words)))
    yield Group("initialisation", _used(_rows(cells, lambda cell: cell.init.counts, count_name)))
    yield Group("destroy", _used(_rows(cells, lambda cell: cell.destroy.counts, count_name)))


def _whole_cell(cell: CellRecord) -> Mapping[str, int]:
    return {
        "instructions of initialisation": cell.init.cost,
        "instructions of destroy": cell.destroy.cost,
        "DMA pool held between inferences, bytes": cell.pool_held,
        "DMA pool at its peak, bytes": cell.pool_peak,
        "DMA pool left at the end, bytes": cell.pool_used,
        "temporary memory held, bytes": cell.temp_held,
        "temporary memory at its peak, bytes": cell.temp_peak,
        "heap at its peak, bytes": cell.heap_peak,
        "objects left at the end": cell.live_objects,
    }


def _warm(cell: CellRecord) -> Stage | None:
    inference = warm_inference(cell)
    return None if inference is None else inference.stage


def _warm_counts(cell: CellRecord) -> Mapping[str, int]:
    stage = _warm(cell)
    return {} if stage is None else stage.counts


def _warm_phases(cell: CellRecord) -> Mapping[str, int]:
    stage = _warm(cell)
    return {} if stage is None else stage.phases


def _rows(
    cells: Sequence[CellRecord | None],
    figures: Callable[[CellRecord], Mapping[str, int]],
    named: Callable[[str], str],
) -> tuple[Row, ...]:
    columns = [{} if cell is None else figures(cell) for cell in cells]
    names = dict.fromkeys(name for column in columns for name in column)
    return tuple(Row(named(name), tuple(column.get(name) for column in columns)) for name in names)


def _used(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows that are not 0 in every mode."""
    return tuple(row for row in rows if any(row.values))


def _difference(model: ModelReport) -> OutputDifference | None:
    if model.run is None or model.compiled is None:
        return None
    return first_output_difference(model.run, model.compiled)
