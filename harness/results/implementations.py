"""Two drivers held against each other: the same jobs, in the same modes, through somebody's own patch.

implementation-outputs  an inference gave other bytes with the later implementation
implementation-cycles   it took other NPU cycles
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.plan import Mode
from harness.results.equivalence import Comparison, first_difference, steady_cost
from harness.results.finding import Finding
from harness.results.run_record import CellRecord, Inference, RunRecord


@dataclass(frozen=True)
class ImplementationRun:
    """What one driver implementation did with a model, and what was found in that."""

    name: str
    run: RunRecord
    comparison: Comparison


@dataclass(frozen=True)
class ImplementationChange:
    """One mode in two implementations: instructions per inference once warm, and counts of the last."""

    mode: Mode
    before: str
    after: str
    before_instructions: float
    after_instructions: float
    counts: Mapping[str, tuple[int, int]]  #: only those that differ

    @property
    def percent(self) -> float:
        """How much less `after` costs, in percent of `before`; negative when it costs more."""
        if not self.before_instructions:
            return 0.0
        return 100.0 * (1.0 - self.after_instructions / self.before_instructions)


def hold_against_each_other(runs: Sequence[ImplementationRun]) -> tuple[Finding, ...]:
    """All that was found in each implementation, and between the first and each other."""
    own = (replace(finding, implementation=run.name) for run in runs for finding in run.comparison.findings)
    between = (finding for after in runs[1:] for finding in _differences(runs[0], after))
    return (*own, *between)


def implementation_changes(runs: Sequence[ImplementationRun]) -> tuple[ImplementationChange, ...]:
    """What the later implementations cost in each mode, beside the first."""
    return tuple(
        change
        for after in runs[1:]
        for one, other in _cell_pairs(runs[0].run, after.run)
        if (change := _change(runs[0].name, after.name, one, other)) is not None
    )


def _cell_pairs(before: RunRecord, after: RunRecord) -> Iterator[tuple[CellRecord, CellRecord]]:
    known = {(cell.cell, cell.slot): cell for cell in before.cells}
    for cell in after.cells:
        if (cell.cell, cell.slot) in known:
            yield known[cell.cell, cell.slot], cell


def _differences(before: ImplementationRun, after: ImplementationRun) -> Iterator[Finding]:
    for one, other in _cell_pairs(before.run, after.run):
        for left, right in zip(one.inferences, other.inferences, strict=False):
            if "ok" == left.status == right.status:
                for check, detail in _inference_differences(left, right):
                    text = f"not as with {before.name}: {detail}"
                    yield Finding(check, other.mode, right.index, text, implementation=after.name)


def _inference_differences(left: Inference, right: Inference) -> Iterator[tuple[str, str]]:
    difference = first_difference(left.outputs, right.outputs)
    if difference:
        yield "implementation-outputs", difference
    if left.npu_cycles != right.npu_cycles:
        yield "implementation-cycles", f"{right.npu_cycles} cycles instead of {left.npu_cycles}"


def _change(before: str, after: str, one: CellRecord, other: CellRecord) -> ImplementationChange | None:
    costs = steady_cost(one), steady_cost(other)
    if costs[0] is None or costs[1] is None:
        return None
    then, now = one.inferences[-1].stage.counts, other.inferences[-1].stage.counts
    counts = {name: (then[name], now[name]) for name in then if then[name] != now[name]}
    return ImplementationChange(one.mode, before, after, costs[0], costs[1], counts)
