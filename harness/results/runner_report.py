"""The report on runners held against each other on Linux; what means the same has schema 1's name in JSON."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from harness.errors import ExitCode, HarnessError
from harness.models.compiled import CompiledModel
from harness.results.board_report import CYCLES_KIND, BoardReport, Source, Verdict, compiled_json, error_json
from harness.results.runner_comparison import ProgramRun, RunnerComparison, TimeChange, Trial

WALL_TIME = "executor_runner: `Iteration i of n`, Method::execute() from entry to return, the wait included"
CPU_TIME = "POSIX shell `times`: user and system time of one further inference in the same process"


@dataclass(frozen=True)
class RunnerModelReport:
    """What became of one model: a comparison of its trials, or the error that prevented it."""

    compiled: CompiledModel
    trials: tuple[Trial, ...] = ()
    comparison: RunnerComparison | None = None
    error: HarnessError | None = None

    @property
    def verdict(self) -> Verdict:
        """`error` when there is nothing to compare."""
        if self.comparison is None:
            return "error"
        return "fail" if self.comparison.findings else "pass"

    @property
    def exit_code(self) -> ExitCode:
        """What this model alone would end the command with."""
        if self.error is not None:
            return self.error.exit_code
        return {"pass": ExitCode.OK, "fail": ExitCode.FAILED, "error": ExitCode.BUG}[self.verdict]


@dataclass(frozen=True)
class RunnerReport(BoardReport[RunnerModelReport]):
    """The outcome of a comparison of runners on a board that boots Linux."""

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return self.framed(lambda model: _model(model, self.source))


def _model(model: RunnerModelReport, source: Source) -> dict[str, Any]:
    compiled, comparison = model.compiled, model.comparison
    entry: dict[str, Any] = {
        "name": compiled.name,
        **compiled_json(compiled),
        "verdict": model.verdict,
        "findings": [],
    }
    if model.error is not None:
        entry["error"] = error_json(model.error)
    if comparison is not None:
        entry["findings"] = [
            {
                "check": finding.check,
                "mode": None,
                "index": finding.index,
                "detail": finding.detail,
                "implementation": finding.implementation,
            }
            for finding in comparison.findings
        ]
        entry["comparison"] = {
            "outputs_identical": comparison.outputs_identical,
            "npu_cycles_identical": comparison.npu_cycles_identical,
            "npu_cycles_check": "observed",
            "reference": {"oracle": "not compared", "equal": None, "reason": "the model comes compiled"},
            "times": [_change(change) for change in comparison.changes],
        }
        entry["trials"] = [_trial(trial, compiled, source) for trial in model.trials]
    return entry


def _change(change: TimeChange) -> dict[str, Any]:
    cpu = change.cpu_percent
    return {
        "before": change.before,
        "after": change.after,
        "wall": {
            "kind": WALL_TIME,
            "before_ms": round(change.before_wall_ms, 6),
            "after_ms": round(change.after_wall_ms, 6),
            "percent": round(change.wall_percent, 3),
        },
        "cpu": {
            "kind": CPU_TIME,
            "before_ms": round(change.before_cpu_ms, 6),
            "after_ms": round(change.after_cpu_ms, 6),
            "uncertainty_ms": round(change.cpu_uncertainty_ms, 6),
            "percent": None if cpu is None else round(cpu, 3),
        },
    }


def _trial(trial: Trial, compiled: CompiledModel, source: Source) -> dict[str, Any]:
    return {
        "implementation": trial.implementation,
        "input": trial.input,
        "processes": [_process(run, compiled, source) for run in (trial.single, trial.several)],
    }


def _process(run: ProgramRun, compiled: CompiledModel, source: Source) -> dict[str, Any]:
    return {
        "cpu_ms": run.cpu_ms,
        "inferences": [
            {
                "index": inference.index,
                "npu_cycles": inference.npu_cycles,
                "npu_cycles_kind": CYCLES_KIND[source],
                "wall_ms": inference.wall_ms,
            }
            for inference in run.inferences
        ],
        # Of the last inference: runners write no others.
        "outputs": [
            {
                "name": tensor.name,
                "shape": list(tensor.shape),
                "dtype": tensor.dtype,
                "sha256": hashlib.sha256(data).hexdigest(),
            }
            for tensor, data in zip(compiled.outputs, run.outputs, strict=True)
        ],
    }
