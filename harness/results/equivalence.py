"""What must be equal across lifetimes, and what was found not to be.

Each check has a name, under which its findings appear in every report:

    status              an inference, a cell or the run ended with another status than it should
    outputs-repeat      the same input gave different outputs within one cell: state was left over
    outputs-modes       the same inference gave different outputs in two modes
    outputs-reference   an output differs from the reference implementation's
    npu-cycles          the same inference took different NPU cycles, in two modes or within one cell
    npu-cycles-zero     an inference completed in no cycles: the counter does not count
    npu-cycles-time     the cycles do not fill the time that the NPU was seen to work
    cpu-direction       kept driver objects do not cost less CPU

The checks of resources.py come on top.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType

from harness.plan import DRIVER_PERSISTENT, PER_INFERENCE, Mode
from harness.results.finding import Finding
from harness.results.resources import Needs, resource_findings
from harness.results.run_record import CellRecord, Inference, RunRecord

TIME_SLACK_CYCLES = 100
"""Two ticks of a 100 MHz timer at each end of the measured time, and the reading of it, at 1 GHz."""

NOTHING_INJECTED: Mapping[int | None, str] = MappingProxyType({})

OutputDigests = tuple[str, ...]  #: SHA-256 of each output of one inference


@dataclass(frozen=True)
class Reference:
    """What the oracle says: for each input label, the digests of the outputs; None when it says nothing."""

    oracle: str
    digests: Mapping[str, OutputDigests] | None
    reason: str = ""  #: why nothing was compared


@dataclass(frozen=True)
class Saving:
    """CPU instructions per inference in two modes: the median of all inferences but the first."""

    before: Mode
    after: Mode
    before_instructions: float
    after_instructions: float

    @property
    def percent(self) -> float:
        """How much less `after` costs, in percent of `before`."""
        return 100.0 * (1.0 - self.after_instructions / self.before_instructions)


@dataclass(frozen=True)
class Comparison:
    """The verdict on one model. `reference_equal` is None where there was nothing to compare with."""

    findings: tuple[Finding, ...]
    outputs_identical: bool
    npu_cycles_identical: bool
    oracle: str
    oracle_reason: str
    reference_equal: bool | None
    savings: tuple[Saving, ...]

    @property
    def passed(self) -> bool:
        """Whether everything that was compared is as it must be."""
        return not self.findings

    @property
    def faulted(self) -> bool:
        """Whether the firmware or the NPU failed, rather than a comparison."""
        return any(finding.check == "status" for finding in self.findings)

    @property
    def driver_saving(self) -> Saving | None:
        """The saving of kept driver objects, nothing else being kept; None unless both modes were run."""
        pair = (PER_INFERENCE, DRIVER_PERSISTENT)
        return next((saving for saving in self.savings if (saving.before, saving.after) == pair), None)

    @property
    def cpu_saved_percent(self) -> float | None:
        """That saving in percent."""
        return None if self.driver_saving is None else self.driver_saving.percent


def compare(
    run: RunRecord,
    reference: Reference,
    npu_clock_hz: int | None,
    injected: Mapping[int | None, str] = NOTHING_INJECTED,
    needs: Needs | None = None,
) -> Comparison:
    """Hold the cells of one model against each other and against the reference.

    `npu_clock_hz` is the NPU's clock, where the board's timer and the NPU keep the same time; None where not.
    `injected` says where a failure was injected, as the index of the inference, or None for initialisation,
    and with which status that must end: a failure that was meant and seen is no finding.
    `needs` is what an inference may take; None leaves that to the first one.
    """
    cells = run.cells
    failures = tuple(_failures(run, injected))
    outputs = (*_repeats(cells), *_across_modes(cells))
    cycles = (*_cycles(cells), *_partial_cycles(cells, npu_clock_hz))
    against = tuple(_against(cells, reference))
    savings = tuple(_savings(cells))
    complete = not failures and _inferences(cells) > 0
    return Comparison(
        findings=(
            *failures,
            *outputs,
            *against,
            *cycles,
            *resource_findings(cells, needs),
            *_direction(savings),
        ),
        outputs_identical=complete and not outputs,
        npu_cycles_identical=complete and not cycles,
        oracle=reference.oracle,
        oracle_reason=reference.reason,
        reference_equal=None if reference.digests is None else complete and not against,
        savings=savings,
    )


def _inferences(cells: Sequence[CellRecord]) -> int:
    return sum(len(cell.inferences) for cell in cells)


def _failures(run: RunRecord, injected: Mapping[int | None, str]) -> Iterator[Finding]:
    for fault in run.faults:
        # An exception is never what was injected: it ends the run.
        if fault.kind == "exception" or fault.cell is None or fault.index not in injected:
            mode = next((cell.mode for cell in run.cells if cell.cell == fault.cell), None)
            yield Finding("status", mode, fault.index, str(fault))
    for cell in run.cells:
        for inference in cell.inferences:
            if unlike := _unlike(inference.status, injected.get(inference.index, "ok")):
                yield Finding("status", cell.mode, inference.index, f"the inference {unlike}")
        if unlike := _unlike(cell.status, next(iter(injected.values()), "ok")):
            yield Finding("status", cell.mode, None, f"the cell {unlike}")
    if run.status != "ok" and not run.faults:
        yield Finding("status", None, None, f"the run ended with {run.status}")


def _unlike(status: str, expected: str) -> str:
    """How a status differs from the one expected, in words; empty when it does not."""
    if status == expected:
        return ""
    return f"ended with {status}" + ("" if expected == "ok" else f" instead of {expected}")


def _completed(cell: CellRecord) -> Iterable[Inference]:
    return (inference for inference in cell.inferences if inference.status == "ok")


def _repeats(cells: Sequence[CellRecord]) -> Iterator[Finding]:
    for cell in cells:
        first = _first_by_input(cell)
        for inference in _completed(cell):
            earlier = first[inference.input]
            difference = first_difference(earlier.outputs, inference.outputs)
            if difference:
                detail = f"not the output that input {inference.input} gave in inference {earlier.index}"
                yield Finding("outputs-repeat", cell.mode, inference.index, f"{detail}: {difference}")


def _first_by_input(cell: CellRecord) -> dict[str, Inference]:
    """For each input set the cell's first completed inference of it."""
    return {inference.input: inference for inference in reversed([*_completed(cell)])}


def _pairs(cells: Sequence[CellRecord]) -> Iterator[tuple[CellRecord, Inference, CellRecord, Inference]]:
    """For each input set the first inference of it in the first cell that has one, and in each later cell."""
    base: dict[str, tuple[CellRecord, Inference]] = {}
    for cell in cells:
        for label, inference in sorted(_first_by_input(cell).items()):
            if label in base:
                yield *base[label], cell, inference
            else:
                base[label] = (cell, inference)


def _across_modes(cells: Sequence[CellRecord]) -> Iterator[Finding]:
    for base_cell, base, cell, other in _pairs(cells):
        difference = first_difference(base.outputs, other.outputs)
        if difference:
            detail = f"output for input {other.input} differs from {base_cell.mode}: {difference}"
            yield Finding("outputs-modes", cell.mode, other.index, detail)


def _against(cells: Sequence[CellRecord], reference: Reference) -> Iterator[Finding]:
    if reference.digests is None:
        return
    for cell in cells:
        for inference in _completed(cell):
            for number, (ours, theirs) in enumerate(
                zip(inference.digests, reference.digests[inference.input], strict=True)
            ):
                if ours != theirs:
                    detail = f"output {number} for input {inference.input} differs from {reference.oracle}"
                    yield Finding("outputs-reference", cell.mode, inference.index, detail)


def _cycles(cells: Sequence[CellRecord]) -> Iterator[Finding]:
    for cell in cells:
        first = _first_by_input(cell)
        for inference in _completed(cell):
            if inference.npu_cycles == 0:
                detail = "the NPU did its work in 0 cycles: the counter was not enabled"
                yield Finding("npu-cycles-zero", cell.mode, inference.index, detail)
            earlier = first[inference.input]
            if earlier.npu_cycles != inference.npu_cycles:
                detail = f"{inference.npu_cycles} cycles, {earlier.npu_cycles} in inference {earlier.index}"
                yield Finding("npu-cycles", cell.mode, inference.index, detail)
    for base_cell, base, cell, other in _pairs(cells):
        if base.npu_cycles != other.npu_cycles:
            detail = f"{other.npu_cycles} cycles, {base.npu_cycles} in {base_cell.mode}"
            yield Finding("npu-cycles", cell.mode, other.index, detail)


def _partial_cycles(cells: Sequence[CellRecord], npu_clock_hz: int | None) -> Iterator[Finding]:
    """A counter read too early, or started too late, counts less than the time the NPU took."""
    if npu_clock_hz is None:
        return
    for cell in cells:
        for inference in _completed(cell):
            expected = inference.elapsed_ns * npu_clock_hz / 1_000_000_000
            # The elapsed time also holds the driver's instructions around the job, at a nanosecond each.
            slack = inference.stage.phases["submit"] + inference.stage.phases["wait"] + TIME_SLACK_CYCLES
            fills_it = expected - slack <= inference.npu_cycles <= expected + TIME_SLACK_CYCLES
            if inference.npu_cycles and not fills_it:
                detail = (
                    f"{inference.npu_cycles} cycles counted while the NPU worked for about {expected:.0f}"
                )
                yield Finding("npu-cycles-time", cell.mode, inference.index, detail)


def _savings(cells: Sequence[CellRecord]) -> Iterator[Saving]:
    for before, after in combinations(cells, 2):
        if before.mode < after.mode:
            costs = steady_cost(before), steady_cost(after)
            if costs[0] is not None and costs[1] is not None and costs[0] > 0:
                yield Saving(before.mode, after.mode, costs[0], costs[1])


def steady_cost(cell: CellRecord) -> float | None:
    """Instructions per inference once warm: the first inference is left out."""
    costs = [inference.stage.cost for inference in [*_completed(cell)][1:]]
    return statistics.median(costs) if costs else None


def _direction(savings: Sequence[Saving]) -> Iterator[Finding]:
    """Only kept driver objects must cost less: the cost of maps and heap is a host's kernel's and libc's."""
    for saving in savings:
        driver_alone = replace(saving.before, driver=saving.after.driver) == saving.after
        if driver_alone and saving.after_instructions >= saving.before_instructions:
            detail = (
                f"{saving.after_instructions:.0f} instructions per inference, "
                f"{saving.before_instructions:.0f} in {saving.before}"
            )
            yield Finding("cpu-direction", saving.after, None, detail)


def first_difference(ours: Sequence[bytes], theirs: Sequence[bytes]) -> str:
    """Where two sets of outputs first differ, in words; empty when they are equal."""
    if len(ours) != len(theirs):
        return f"{len(theirs)} outputs instead of {len(ours)}"
    for number, (left, right) in enumerate(zip(ours, theirs, strict=True)):
        if len(left) != len(right):
            return f"output {number} has {len(right)} bytes instead of {len(left)}"
        for offset, (a, b) in enumerate(zip(left, right, strict=True)):
            if a != b:
                return f"output {number} byte {offset} is {b:#04x} instead of {a:#04x}"
    return ""
