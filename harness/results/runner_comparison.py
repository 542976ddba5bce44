"""Runners on Linux held against each other: equal bytes, equal NPU cycles, and the time of each.

implementation-outputs  an input gave other bytes than with the first implementation
implementation-cycles   it took other NPU cycles
repeated-outputs        the last of several inferences gave other bytes than a single one, with the same input
repeated-cycles         inferences of the same input took unlike NPU cycles

Times are reported and never asserted: those of a model of a board are no hardware's, and noisy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.results.comparable import Conditions, require_comparable
from harness.results.equivalence import first_difference
from harness.results.finding import Finding
from harness.results.runner_log import RunnerInference

TICK_MS = 10.0  #: what `times` counts CPU time in: USER_HZ is 100 on every Linux for AArch64


@dataclass(frozen=True)
class ProgramRun:
    """What one start of a runner did: one or more inferences of the same input."""

    inferences: tuple[RunnerInference, ...]
    outputs: tuple[bytes, ...]  #: of the last inference, which is all that runners write
    cpu_ms: float  #: user and system time of the whole process, by the shell's `times`


@dataclass(frozen=True)
class Trial:
    """An implementation with one input set: a process with a single inference, and one with several."""

    implementation: str
    input: str
    conditions: Conditions
    single: ProgramRun
    several: ProgramRun

    @property
    def wall_ms(self) -> float:
        """Mean wall time of `execute()` in the process with several, the first inference left out."""
        return fmean(inference.wall_ms for inference in self.several.inferences[1:])

    @property
    def cpu_ms(self) -> float:
        """CPU time of one further inference: what start and loading cost is in both processes, and cancels.

        This includes what the runner does beside `execute()`, such as preparing its inputs.
        """
        return (self.several.cpu_ms - self.single.cpu_ms) / (len(self.several.inferences) - 1)

    @property
    def cpu_uncertainty_ms(self) -> float:
        """By how much `cpu_ms` may be off: each of the two processes is known to a tick."""
        return 2 * TICK_MS / (len(self.several.inferences) - 1)


@dataclass(frozen=True)
class TimeChange:
    """One implementation beside the first, over all input sets: milliseconds per inference."""

    before: str
    after: str
    before_wall_ms: float
    after_wall_ms: float
    before_cpu_ms: float
    after_cpu_ms: float
    cpu_uncertainty_ms: float

    @property
    def wall_percent(self) -> float:
        """How much less wall time the later one takes; negative when it takes more."""
        return _saved_percent(self.before_wall_ms, self.after_wall_ms)

    @property
    def cpu_percent(self) -> float | None:
        """How much less CPU time it takes; None where the clock is too coarse for the times to differ."""
        if abs(self.before_cpu_ms - self.after_cpu_ms) <= 2 * self.cpu_uncertainty_ms:
            return None
        return _saved_percent(self.before_cpu_ms, self.after_cpu_ms)


@dataclass(frozen=True)
class RunnerComparison:
    """What was found, and what each later implementation takes beside the first."""

    findings: tuple[Finding, ...]
    changes: tuple[TimeChange, ...]

    @property
    def outputs_identical(self) -> bool:
        """Whether all outputs of each input are the same bytes."""
        return not any(finding.check.endswith("-outputs") for finding in self.findings)

    @property
    def npu_cycles_identical(self) -> bool:
        """Whether all inferences of each input took the same cycles."""
        return not any(finding.check.endswith("-cycles") for finding in self.findings)


def compare_trials(trials: Sequence[Trial]) -> RunnerComparison:
    """Hold each implementation against the first, and each against itself.

    `trials` are of one model: every implementation with every input set. Raises UnlikeResults for trials that
    were made under unlike conditions.
    """
    by_name: dict[str, dict[str, Trial]] = {}
    for trial in trials:
        by_name.setdefault(trial.implementation, {})[trial.input] = trial
    first, *later = by_name.values()
    findings = [finding for trial in trials for finding in _within(trial)]
    for other in later:
        for label, before in first.items():
            findings += _between(before, other[label])
    return RunnerComparison(tuple(findings), tuple(_change(first, other) for other in later))


def _within(trial: Trial) -> Iterator[Finding]:
    count = len(trial.several.inferences)
    if difference := first_difference(trial.single.outputs, trial.several.outputs):
        yield _finding("repeated-outputs", trial, f"after {count} inferences not as after one: {difference}")
    expected = trial.single.inferences[0].npu_cycles
    for inference in trial.several.inferences:
        if inference.npu_cycles != expected:
            detail = f"{inference.npu_cycles} cycles, and {expected} in a single inference"
            yield _finding("repeated-cycles", trial, detail, inference.index)


def _between(before: Trial, after: Trial) -> Iterator[Finding]:
    what = f"{before.implementation} and {after.implementation}"
    require_comparable(before.conditions, after.conditions, what)
    if difference := first_difference(before.several.outputs, after.several.outputs):
        yield _finding("implementation-outputs", after, f"not as with {before.implementation}: {difference}")
    for one, other in zip(before.several.inferences, after.several.inferences, strict=True):
        if one.npu_cycles != other.npu_cycles:
            detail = (
                f"not as with {before.implementation}: {other.npu_cycles} cycles instead of {one.npu_cycles}"
            )
            yield _finding("implementation-cycles", after, detail, other.index)


def _finding(check: str, trial: Trial, detail: str, index: int | None = None) -> Finding:
    return Finding(check, None, index, f"input {trial.input}: {detail}", implementation=trial.implementation)


def _change(before: dict[str, Trial], after: dict[str, Trial]) -> TimeChange:
    one, other = tuple(before.values()), tuple(after.values())
    return TimeChange(
        before=one[0].implementation,
        after=other[0].implementation,
        before_wall_ms=fmean(trial.wall_ms for trial in one),
        after_wall_ms=fmean(trial.wall_ms for trial in other),
        before_cpu_ms=fmean(trial.cpu_ms for trial in one),
        after_cpu_ms=fmean(trial.cpu_ms for trial in other),
        cpu_uncertainty_ms=max(trial.cpu_uncertainty_ms for trial in (*one, *other)),
    )


def _saved_percent(before: float, after: float) -> float:
    return 100.0 * (1.0 - after / before) if before else 0.0
