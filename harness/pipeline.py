"""The flow: model to verdict, one arrow after the other.

model ─compile─▶ CompiledModel ─plan─▶ Plan ─build─▶ FirmwareImage ─Board.run─▶ console ─parse─▶ RunRecord
RunRecord and reference outputs ─compare─▶ Comparison ─▶ Report
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness import __version__
from harness.errors import HarnessError
from harness.examination import Prepared, Progress, examine, measure_prices, no_progress, prepare
from harness.models.catalog import ModelSource, load_model
from harness.plan import DRIVER_PERSISTENT, PER_INFERENCE
from harness.processes import program_threads
from harness.results.cost import Prices, explain
from harness.results.implementations import (
    ImplementationRun,
    hold_against_each_other,
    implementation_changes,
)
from harness.results.persistence import prices_of_persistence
from harness.results.report import ModelReport, Report
from harness.settings import Settings
from harness.versions import versions


def compare_models(
    names: Sequence[str],
    settings: Settings,
    *,
    together: bool = False,
    jobs: int = 2,
    progress: Progress = no_progress,
) -> Report:
    """Compare every model across the settings' modes, `jobs` at a time.

    `together` loads all models at once, in one image, and runs them in turn; otherwise each has its own.
    Raises UsageError before anything runs when a name is unknown. Any later error is part of the report: it
    ends its own model only, or all that are loaded with it.
    """
    sources = [load_model(name) for name in names]
    groups = [sources] if together else [[source] for source in sources]
    with program_threads(jobs) as threads:
        prices = threads.submit(measure_prices, _first_implementation(settings), progress)
        outcomes = [threads.submit(_compare_group, group, settings, progress) for group in groups]
        reports = [_explained(report, prices.result()) for group in outcomes for report in group.result()]
    return Report(
        tool_version=__version__,
        board=settings.board.name,
        source=settings.board.source,
        macs=_ran_with(reports, settings),
        versions=versions(settings),
        models=tuple(reports),
        load=settings.load,
        together=together,
    )


def _ran_with(reports: Sequence[ModelReport], settings: Settings) -> int | None:
    """The MAC count that all models ran with: a compiled one has its own."""
    counts = {report.compiled.macs for report in reports if report.compiled is not None} or {settings.macs}
    return counts.pop() if len(counts) == 1 else None


def _first_implementation(settings: Settings) -> Settings:
    return settings.with_implementation(settings.implementations[0]) if settings.implementations else settings


def compare_model(name: str, settings: Settings, progress: Progress = no_progress) -> ModelReport:
    """Compare one model across the settings' modes; an error becomes part of the report."""
    (report,) = _compare_group([load_model(name)], settings, progress)
    return report


def _compare_group(
    sources: Sequence[ModelSource], settings: Settings, progress: Progress
) -> tuple[ModelReport, ...]:
    """Compare models that are loaded together; one that cannot be prepared is left out of the image."""
    reports = [ModelReport(source.name) for source in sources]
    ready: dict[int, Prepared] = {}
    for place, source in enumerate(sources):
        try:
            ready[place] = prepare(source, settings, progress)
            reports[place] = replace(reports[place], compiled=ready[place].compiled)
        except HarnessError as error:
            reports[place] = replace(reports[place], error=error)
    for place in ready:
        progress(sources[place].name, "build and run")
    try:
        outcomes = _run_implementations(tuple(ready.values()), settings) if ready else ()
        for place, runs in zip(ready, outcomes, strict=True):
            reports[place] = _reported(reports[place], runs, settings)
    except HarnessError as error:
        for place in ready:
            reports[place] = replace(reports[place], error=error)
    for source in sources:
        progress(source.name, "done")
    return tuple(reports)


def _run_implementations(
    models: Sequence[Prepared], settings: Settings
) -> tuple[tuple[ImplementationRun, ...], ...]:
    """For each model its run in each driver implementation: the user's, or ours where none was given."""
    variants = {each.name: settings.with_implementation(each) for each in settings.implementations}
    outcomes = {name: examine(models, variant) for name, variant in (variants or {"": settings}).items()}
    return tuple(
        tuple(ImplementationRun(name, *outcome[place]) for name, outcome in outcomes.items())
        for place in range(len(models))
    )


def _reported(report: ModelReport, runs: Sequence[ImplementationRun], settings: Settings) -> ModelReport:
    run, comparison = runs[0].run, replace(runs[0].comparison, findings=hold_against_each_other(runs))
    pool = settings.board.memory.dma_pool_size
    persistence = prices_of_persistence(run.cells, comparison.savings, pool, settings.load.copies)
    changes = implementation_changes(runs)
    return replace(report, run=run, comparison=comparison, persistence=persistence, implementations=changes)


def _explained(report: ModelReport, prices: Prices) -> ModelReport:
    """Add what accounts for the driver saving, where both lifetimes were run."""
    if report.run is None:
        return report
    cells = {cell.mode: cell for cell in report.run.cells}
    if PER_INFERENCE not in cells or DRIVER_PERSISTENT not in cells:
        return report
    return replace(report, explanation=explain(cells[PER_INFERENCE], cells[DRIVER_PERSISTENT], prices))
