"""Running prepared models on a board, and holding all that came out against all else."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from harness.build.elf import read_elf
from harness.build.image import build_image
from harness.console.protocol import Transcript, parse_console
from harness.models.catalog import ModelSource
from harness.models.compiled import CompiledModel, Tensor
from harness.models.history import histories
from harness.models.inputs import InputSet, standard_inputs
from harness.models.reference import reference_outputs
from harness.models.vela import compile_model
from harness.plan import Failure, Plan, PlannedModel, Program, plan_comparison, plan_loaded
from harness.results.assembly import assemble
from harness.results.calibration import prices_from
from harness.results.coherency import coherency_findings, missing_maintenance
from harness.results.cost import Prices
from harness.results.equivalence import NOTHING_INJECTED, Comparison, Reference, compare
from harness.results.finding import Finding
from harness.results.npu_checks import npu_check_findings, stream_checks
from harness.results.resources import needs_of
from harness.results.run_record import RunRecord
from harness.results.state import fill_findings, unwritten_findings
from harness.settings import Settings

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
    histories: int = 0  #: as PlannedModel has it

    @property
    def planned(self) -> PlannedModel:
        """The model as a plan takes it."""
        return PlannedModel(self.compiled, self.inputs, self.histories)


def no_progress(model: str, step: str) -> None:
    """Report no progress."""


def prepare(source: ModelSource, settings: Settings, progress: Progress = no_progress) -> Prepared:
    """Compile a model, choose its inputs, and ask the oracle for its outputs."""
    progress(source.name, "compile")
    compiled = compile_model(source, settings.compile_options(source))
    inputs = standard_inputs(compiled)
    progress(source.name, "reference")
    if compiled.variables and settings.load.keep_state:
        return prepare_histories(compiled, histories(inputs, SEQUENCE, settings.load.inferences))
    return Prepared(compiled, inputs, reference_for(compiled, inputs))


def prepare_histories(compiled: CompiledModel, histories: Sequence[tuple[InputSet, ...]]) -> Prepared:
    """A model that goes on from each inference to the next; the oracle goes through each history alone."""
    told = [reference_for(compiled, history, keep_state=True) for history in histories]
    digests = {label: each for one in told for label, each in (one.digests or {}).items()}
    reference = replace(told[0], digests=None if told[0].digests is None else digests)
    return Prepared(compiled, tuple(chain.from_iterable(histories)), reference, len(histories))


def reference_for(
    compiled: CompiledModel, inputs: tuple[InputSet, ...], *, keep_state: bool = False
) -> Reference:
    """What the oracle says of a model's inputs, by their labels; with `keep_state`, of each in its turn."""
    result = reference_outputs(compiled, inputs, keep_state=keep_state)
    if result.digests is None:
        return Reference(result.oracle, None, result.reason)
    return Reference(
        result.oracle, {chosen.label: each for chosen, each in zip(inputs, result.digests, strict=True)}
    )


def run_plan(plan: Plan, settings: Settings, fill: int | None = None) -> Transcript:
    """Build a plan's image, run it on the board, and return what it said.

    `fill` is the byte that the board fills its RAM with before the start; None leaves that to the board.
    """
    macs = plan.macs or settings.macs
    image = build_image(plan, settings.board, settings.toolchain, settings.firmware)
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


def measure_prices(settings: Settings, progress: Progress = no_progress) -> Prices:
    """What one object and one byte cost on this board, from the two calibration programs."""
    progress("calibration", "run")
    transcript = run_plan(Plan(models=(), cells=(), program=Program.CALIBRATE), settings)
    progress("calibration", "done")
    return prices_from(transcript)


def examine(
    models: Sequence[Prepared],
    settings: Settings,
    failures: tuple[Failure, ...] = (),
    injected: Mapping[int | None, str] = NOTHING_INJECTED,
) -> tuple[tuple[RunRecord, Comparison], ...]:
    """Load models together, run them in the settings' modes, and hold everything against everything.

    Where the board can fill its RAM, the same image runs once for each of FILLS, and must not show it; where
    it can name missing cache maintenance, and what streams do wrong with memory, it does so in the first run.
    The result is one record and one comparison for each model. `failures` are steps that are made to fail;
    `injected` is what must come of them, or of a fault that the settings' parameters provoke: see compare().
    """
    loaded = [model.planned for model in models for _ in range(settings.load.copies)]
    plan = replace(
        plan_loaded(loaded, settings.modes, SEQUENCE, settings.load.inferences),
        scratch=settings.load.scratch,
        zeroing=settings.load.zeroing,
        keep_state=settings.load.keep_state,
        failures=failures,
    )
    runs = _runs(plan, settings)
    coherency = _coherency(runs[0], plan, settings)
    checks = stream_checks(runs[0].noise)
    outcomes = []
    for model in models:
        number = plan.models.index(model.planned)
        own = [run.of_model(number) for run in runs]
        needs = needs_of(model.compiled, plan.scratch, keep_state=plan.keep_state)
        comparison = compare(own[0], model.reference, settings.board.npu.clock_hz, injected, needs)
        findings = (
            *comparison.findings,
            *coherency(number),
            *npu_check_findings(checks, runs[0], number, _written_by_cpu(model.compiled)),
            *_state(own, model.reference),
        )
        outcomes.append((own[0], replace(comparison, findings=findings)))
    return tuple(outcomes)


def _written_by_cpu(compiled: CompiledModel) -> tuple[Tensor, ...]:
    return *compiled.inputs, *compiled.variables


def _runs(plan: Plan, settings: Settings) -> list[RunRecord]:
    """The runs of a plan: the one to be judged, and those that must not differ from it."""
    fills = FILLS if settings.board.memory.fill_parameter is not None else (None,)
    checked = assemble(run_plan(plan, settings.with_checks(), fills[0]), plan)
    return [checked, *(assemble(run_plan(plan, settings, fill), plan) for fill in fills[1:])]


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
