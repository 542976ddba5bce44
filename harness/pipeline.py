"""The flow: model to verdict, one arrow after the other.

model ─compile─▶ CompiledModel ─plan─▶ Plan ─build─▶ FirmwareImage ─Board.run─▶ console ─parse─▶ RunRecord
RunRecord and reference outputs ─compare─▶ Comparison ─▶ Report
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from harness import __version__
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
    InputSet,
    Plan,
    PlannedModel,
    Program,
    plan_comparison,
)
from harness.processes import interrupt_all
from harness.results.assembly import assemble
from harness.results.calibration import prices_from
from harness.results.cost import Prices, explain
from harness.results.equivalence import Comparison, Reference, compare
from harness.results.report import ModelReport, Report
from harness.results.run_record import RunRecord
from harness.results.state import fill_findings
from harness.settings import Settings
from harness.versions import versions

SEQUENCE = (0, 1, 0)
"""Inputs A, B, A: what B leaves behind shows in the second A."""

FILLS = (0x00, 0xA5)
"""What RAM holds before the start: zeros, and a pattern that no code takes for them."""

Progress = Callable[[str, str], None]
"""Called with a model's name and what is being done for it."""


def _silent(model: str, step: str) -> None:
    """Report no progress."""


def compare_models(
    names: Sequence[str], settings: Settings, *, jobs: int = 2, progress: Progress = _silent
) -> Report:
    """Compare every model across the settings' modes, `jobs` at a time.

    Raises UsageError before anything runs when a name is unknown. Any later error is part of the report: it
    ends its own model only.
    """
    sources = [load_model(name) for name in names]
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            prices = pool.submit(measure_prices, settings, progress)
            models = [pool.submit(_compare_source, source, settings, progress) for source in sources]
            reports = [_explained(model.result(), prices.result()) for model in models]
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


def compare_model(name: str, settings: Settings, progress: Progress = _silent) -> ModelReport:
    """Compare one model across the settings' modes; an error becomes part of the report."""
    return _compare_source(load_model(name), settings, progress)


def measure_prices(settings: Settings, progress: Progress = _silent) -> Prices:
    """What one object and one byte cost on this board, from the two calibration programs."""
    progress("calibration", "run")
    programs = (Program.CALIBRATE_OBJECTS, Program.CALIBRATE_BYTES)
    transcripts = [run_plan(Plan(models=(), cells=(), program=program), settings) for program in programs]
    progress("calibration", "done")
    return prices_from(transcripts)


def examine(
    compiled: CompiledModel, inputs: tuple[InputSet, ...], reference: Reference, settings: Settings
) -> tuple[RunRecord, Comparison]:
    """Run a compiled model in the settings' modes, and hold everything against everything.

    Where the board can fill its RAM, the same image runs once for each of FILLS, and must not show it.
    """
    plan = plan_comparison(PlannedModel(compiled, inputs), settings.modes, SEQUENCE)
    fillable = settings.board.memory.fill_parameter is not None
    runs = [assemble(run_plan(plan, settings, fill), plan) for fill in (FILLS if fillable else (None,))]
    comparison = compare(runs[0], reference, settings.board.npu.clock_hz)
    filled = zip(runs[1:], FILLS[1:], strict=False)
    state = (finding for run, fill in filled for finding in fill_findings(runs[0], run, fill))
    return runs[0], replace(comparison, findings=(*comparison.findings, *state))


def _compare_source(source: ModelSource, settings: Settings, progress: Progress) -> ModelReport:
    report = ModelReport(source.name)
    try:
        progress(source.name, "compile")
        compiled = compile_model(source, settings.compile_options(source))
        report = replace(report, compiled=compiled)
        inputs = standard_inputs(compiled)
        progress(source.name, "reference")
        reference = reference_for(compiled, inputs)
        progress(source.name, "build and run")
        run, comparison = examine(compiled, inputs, reference, settings)
        return replace(report, run=run, comparison=comparison)
    except HarnessError as error:
        return replace(report, error=error)
    finally:
        progress(source.name, "done")


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
