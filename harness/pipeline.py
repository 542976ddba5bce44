"""The flow: model to verdict, one arrow after the other.

model ─compile─▶ CompiledModel ─plan─▶ Plan ─build─▶ FirmwareImage ─Board.run─▶ console ─parse─▶ RunRecord
RunRecord and reference outputs ─compare─▶ Comparison ─▶ Report
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path

from harness import __version__
from harness.build.elf import read_elf
from harness.build.image import build_image
from harness.console.protocol import Transcript, parse_console
from harness.errors import HarnessError
from harness.models.catalog import ModelSource, load_model
from harness.models.compiled import CompiledModel
from harness.models.reference import reference_outputs, standard_inputs
from harness.models.vela import compile_model
from harness.plan import (
    DRIVER_PERSISTENT,
    PER_INFERENCE,
    Failure,
    InputSet,
    Plan,
    PlannedModel,
    Program,
    plan_comparison,
    plan_loaded,
)
from harness.processes import interrupt_all
from harness.results.assembly import assemble
from harness.results.calibration import prices_from
from harness.results.coherency import coherency_findings, missing_maintenance
from harness.results.cost import Prices, explain
from harness.results.equivalence import NOTHING_INJECTED, Comparison, Reference, compare
from harness.results.finding import Finding
from harness.results.implementations import (
    ImplementationRun,
    hold_against_each_other,
    implementation_changes,
)
from harness.results.persistence import prices_of_persistence
from harness.results.report import ModelReport, Report
from harness.results.run_record import RunRecord
from harness.results.state import fill_findings, unwritten_findings
from harness.settings import Settings
from harness.versions import versions

SEQUENCE = (0, 1, 0)
"""Inputs A, B, A: what B leaves behind shows in the second A."""

FILLS = (0x00, 0xA5)
"""What RAM holds before the start: zeros, and a pattern that no code takes for them."""

Progress = Callable[[str, str], None]
"""Called with a model's name and what is being done for it."""


@dataclass(frozen=True)
class Prepared:
    """A model that is ready to be run, and what its outputs must be."""

    compiled: CompiledModel
    inputs: tuple[InputSet, ...]
    reference: Reference

    @property
    def planned(self) -> PlannedModel:
        """The model as a plan takes it."""
        return PlannedModel(self.compiled, self.inputs)


def _silent(model: str, step: str) -> None:
    """Report no progress."""


def compare_models(
    names: Sequence[str],
    settings: Settings,
    *,
    together: bool = False,
    jobs: int = 2,
    progress: Progress = _silent,
) -> Report:
    """Compare every model across the settings' modes, `jobs` at a time.

    `together` loads all models at once, in one image, and runs them in turn; otherwise each has its own.
    Raises UsageError before anything runs when a name is unknown. Any later error is part of the report: it
    ends its own model only, or all that are loaded with it.
    """
    sources = [load_model(name) for name in names]
    groups = [sources] if together else [[source] for source in sources]
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            prices = pool.submit(measure_prices, _first_implementation(settings), progress)
            outcomes = [pool.submit(_compare_group, group, settings, progress) for group in groups]
            reports = [_explained(report, prices.result()) for group in outcomes for report in group.result()]
        except BaseException:
            interrupt_all()
            pool.shutdown(cancel_futures=True)
            raise
    return Report(
        tool_version=__version__,
        board=settings.board.name,
        source=settings.board.source,
        macs=settings.macs,
        versions=versions(settings),
        models=tuple(reports),
    )


def run_plan(plan: Plan, settings: Settings, fill: int | None = None) -> Transcript:
    """Build a plan's image, run it on the board, and return what it said.

    `fill` is the byte that the board fills its RAM with before the start; None leaves that to the board.
    """
    image = build_image(plan, settings.board, settings.toolchain, settings.firmware)
    macs = plan.models[0].compiled.macs if plan.models else settings.macs
    fresh = plan.with_fresh_nonce()
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        stamped = image.stamped(fresh.nonce, Path(folder) / "runner.elf")
        run = settings.board_with(macs, fill).run(stamped)
    return parse_console(run.console, fresh.nonce, image.build)


def run_model(
    compiled: CompiledModel, inputs: tuple[InputSet, ...], sequence: Sequence[int], settings: Settings
) -> RunRecord:
    """Run one compiled model in the settings' modes."""
    plan = plan_comparison(PlannedModel(compiled, inputs), settings.modes, sequence)
    return assemble(run_plan(plan, settings), plan)


def _first_implementation(settings: Settings) -> Settings:
    return settings.with_implementation(settings.implementations[0]) if settings.implementations else settings


def compare_model(name: str, settings: Settings, progress: Progress = _silent) -> ModelReport:
    """Compare one model across the settings' modes; an error becomes part of the report."""
    (report,) = _compare_group([load_model(name)], settings, progress)
    return report


def measure_prices(settings: Settings, progress: Progress = _silent) -> Prices:
    """What one object and one byte cost on this board, from the two calibration programs."""
    progress("calibration", "run")
    programs = (Program.CALIBRATE_OBJECTS, Program.CALIBRATE_BYTES)
    transcripts = [run_plan(Plan(models=(), cells=(), program=program), settings) for program in programs]
    progress("calibration", "done")
    return prices_from(transcripts)


def prepare(source: ModelSource, settings: Settings, progress: Progress = _silent) -> Prepared:
    """Compile a model, choose its inputs, and ask the oracle for its outputs."""
    progress(source.name, "compile")
    compiled = compile_model(source, settings.compile_options(source))
    inputs = standard_inputs(compiled)
    progress(source.name, "reference")
    return Prepared(compiled, inputs, reference_for(compiled, inputs))


def examine(
    models: Sequence[Prepared],
    settings: Settings,
    failures: tuple[Failure, ...] = (),
    injected: Mapping[int | None, str] = NOTHING_INJECTED,
) -> tuple[tuple[RunRecord, Comparison], ...]:
    """Load models together, run them in the settings' modes, and hold everything against everything.

    Where the board can fill its RAM, the same image runs once for each of FILLS, and must not show it; where
    it can name missing cache maintenance, it does so in the first run. The result is one record and one
    comparison for each model. `failures` are steps that are made to fail; `injected` is what must come of
    them, or of a fault that the settings' parameters provoke: see compare().
    """
    loaded = [model.planned for model in models for _ in range(settings.load.copies)]
    plan = replace(
        plan_loaded(loaded, settings.modes, SEQUENCE, settings.load.inferences),
        scratch=settings.load.scratch,
        zeroing=settings.load.zeroing,
        failures=failures,
    )
    fills = FILLS if settings.board.memory.fill_parameter is not None else (None,)
    manners = chain((settings.with_coherency_check(),), repeat(settings))
    runs = [
        assemble(run_plan(plan, manner, fill), plan) for manner, fill in zip(manners, fills, strict=False)
    ]
    coherency = _coherency(runs[0], plan, settings)
    outcomes = []
    for model in models:
        number = plan.models.index(model.planned)
        runs_of_model = [run.of_model(number) for run in runs]
        comparison = compare(
            runs_of_model[0], model.reference, settings.board.npu.clock_hz, injected=injected
        )
        more = (*coherency(number), *_state(runs_of_model, model.reference))
        findings = (*comparison.findings, *more)
        outcomes.append((runs_of_model[0], replace(comparison, findings=findings)))
    return tuple(outcomes)


def _state(runs: Sequence[RunRecord], reference: Reference) -> Iterator[Finding]:
    """What the runs of one model, each on RAM filled otherwise, show of what memory held before."""
    yield from unwritten_findings(runs[0], reference)
    for run, fill in zip(runs[1:], FILLS[1:], strict=False):
        yield from fill_findings(runs[0], run, fill)


def _coherency(run: RunRecord, plan: Plan, settings: Settings) -> Callable[[int], Iterable[Finding]]:
    """What the board said of missing cache maintenance, as findings of a model of the plan."""
    missing = missing_maintenance(run.noise)
    if not missing:
        return lambda _model: ()
    image = build_image(plan, settings.board, settings.toolchain, settings.firmware)  # from the cache
    symbols = read_elf(image.elf).symbols
    return lambda model: coherency_findings(missing, run, model, symbols)


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


def reference_for(compiled: CompiledModel, inputs: tuple[InputSet, ...]) -> Reference:
    """What the oracle says of a model's inputs, by their labels."""
    result = reference_outputs(compiled, inputs)
    if result.digests is None:
        return Reference(result.oracle, None, result.reason)
    return Reference(
        result.oracle, {chosen.label: each for chosen, each in zip(inputs, result.digests, strict=True)}
    )


def _explained(report: ModelReport, prices: Prices) -> ModelReport:
    """Add what accounts for the driver saving, where both lifetimes were run."""
    if report.run is None:
        return report
    cells = {cell.mode: cell for cell in report.run.cells}
    if PER_INFERENCE not in cells or DRIVER_PERSISTENT not in cells:
        return report
    return replace(report, explanation=explain(cells[PER_INFERENCE], cells[DRIVER_PERSISTENT], prices))
