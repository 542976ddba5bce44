"""The flow on Linux: programs and models onto a disk, one boot, trial by trial, and the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness import __version__
from harness.boards.board import Board
from harness.boards.executable import find_executable
from harness.boards.linux import linux_of, open_linux
from harness.boards.parameters import program_version
from harness.errors import BoardError, HarnessError, UsageError
from harness.examination import Progress, no_progress
from harness.linux.implementation import RunnerImplementation
from harness.linux.plan import LinuxModel, LinuxPlan
from harness.linux.trial import Trials
from harness.models.catalog import ModelKind, ModelSource, load_model
from harness.models.compiled import common_macs
from harness.models.vela import compile_model
from harness.results.comparable import Conditions
from harness.results.runner_comparison import compare_trials
from harness.results.runner_report import RunnerModelReport, RunnerReport
from harness.settings import Settings
from harness.versions import versions

_TAKEN = (ModelKind.PTE, ModelKind.OPTIMISED_TFLITE)


def compare_runners(
    names: Sequence[str],
    implementations: tuple[RunnerImplementation, ...],
    settings: Settings,
    progress: Progress = no_progress,
) -> RunnerReport:
    """Compare runners on every model in one boot of the settings' board.

    Raises UsageError or ModelError before the board is started when a model is not to be had, and BoardError
    when the board does not come to its shell. Any later error is part of the report: it ends its own model,
    and all that follow when the board is gone.
    """
    models = tuple(_linux_model(load_model(name), settings) for name in names)
    macs = common_macs(model.compiled for model in models)
    config = settings.board
    plan = LinuxPlan(implementations, models, settings.load.inferences, linux_of(config))
    version = program_version(config, find_executable(config)).text
    with open_linux(Board(config, macs, settings.parameters, settings.logs), plan.files()) as shell:
        kernel = shell.run("uname -r", within=config.timeouts.start_seconds).output.strip()
        trials = Trials(shell, plan, config.timeouts.run_seconds)
        reports = tuple(_reports(trials, Conditions(config.source, version, macs, "", ""), progress))
    return RunnerReport(
        tool_version=__version__,
        board=config.name,
        source=config.source,
        macs=macs,
        versions={**versions(settings), "board": version, "linux": kernel},
        models=reports,
    )


def _linux_model(source: ModelSource, settings: Settings) -> LinuxModel:
    if source.kind not in _TAKEN:
        raise UsageError(
            f"{source.name} cannot be given to a runner on Linux: it is no compiled .pte or .tflite file",
            hint="give the .pte program, or the .tflite file that Vela has written",
        )
    return LinuxModel.of(source, compile_model(source, settings.compiler))


def _reports(trials: Trials, conditions: Conditions, progress: Progress) -> Iterator[RunnerModelReport]:
    gone: BoardError | None = None
    for model in trials.plan.models:
        report = RunnerModelReport(model.compiled, error=gone)
        if gone is None:
            try:
                report = _compare(trials, model, conditions, progress)
            except HarnessError as error:
                report = replace(report, error=error)
                gone = error if isinstance(error, BoardError) else None
        yield report
        progress(model.compiled.name, "done")


def _compare(
    trials: Trials, model: LinuxModel, conditions: Conditions, progress: Progress
) -> RunnerModelReport:
    compiled = model.compiled
    under = replace(
        conditions,
        compiler=" ".join((compiled.vela_version, *compiled.vela_options)).strip(),
        model_sha256=compiled.source_sha256,
    )
    done = []
    for implementation in trials.plan.implementations:
        progress(compiled.name, f"run {implementation.name}")
        done += [trials.run(implementation, model, inputs, under) for inputs in model.inputs]
    return RunnerModelReport(compiled, tuple(done), compare_trials(done))
