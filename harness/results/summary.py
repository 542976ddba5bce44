"""What every report says of a comparison: a grid of models and modes, what is the same, what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Literal

from harness.plan import Mode
from harness.results.board_report import Verdict
from harness.results.finding import Finding
from harness.results.report import ModelReport, Report
from harness.results.run_record import CellRecord, Inference, NpuCycles

AXES = tuple(field.name for field in fields(Mode))

CYCLES_ORIGIN = {"simulator": "estimate", "fvp": "Arm's model", "hardware": "measured"}
"""Where a board's NPU cycles come from, by the board's source."""

_OUTPUT_CHECKS = frozenset({"outputs-repeat", "outputs-modes"})
_CYCLE_CHECKS = frozenset({"npu-cycles", "npu-cycles-zero", "npu-cycles-time"})


class Sameness(StrEnum):
    """What was found of one thing that must not change with a lifetime."""

    SAME = "identical"
    DIFFERENT = "DIFFERS"
    UNKNOWN = "not established"  #: no difference was seen, but the run was not complete
    NOT_COMPARED = "not compared"


@dataclass(frozen=True)
class GridCell:
    """One model in one mode, and all that was found there."""

    mode: Mode
    verdict: Verdict | Literal["not run"]  #: "not run" where the run has no record of this mode
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class ModelSummary:
    """One row of the grid."""

    report: ModelReport
    cells: tuple[GridCell, ...]  #: one for each of the summary's modes
    elsewhere: tuple[Finding, ...]  #: findings that belong to none of the cells
    outputs: Sameness
    npu_cycles: Sameness
    reference: Sameness
    cycles: NpuCycles | None  #: of the first inference that completed

    @property
    def oracle(self) -> str:
        """The reference implementation that outputs were held against; empty without one."""
        comparison = self.report.comparison
        return "" if comparison is None or comparison.reference_equal is None else comparison.oracle

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that was found, in the order of the checks."""
        return () if self.report.comparison is None else self.report.comparison.findings


@dataclass(frozen=True)
class Gap:
    """Something that was not compared, in words; `model` is None where it holds for all."""

    model: str | None
    text: str
    why: str


@dataclass(frozen=True)
class Summary:
    """A report, arranged for the eye."""

    report: Report
    modes: tuple[Mode, ...]  #: every mode that some model was run in; the first is the one that others change
    axes: tuple[str, ...]  #: the axes of Mode in which the modes differ
    models: tuple[ModelSummary, ...]
    gaps: tuple[Gap, ...]

    @property
    def headline(self) -> str:
        """The verdict in one clause."""
        models, modes = _counted(len(self.models), "model"), _counted(len(self.modes), "mode")
        findings = sum(len(model.findings) for model in self.models)
        if self.report.verdict == "error":
            failed = sum(model.report.verdict == "error" for model in self.models)
            return f"{failed} of {models} ended in an error"
        if self.report.verdict == "fail":
            found = sum(bool(model.findings) for model in self.models)
            return f"{_counted(findings, 'finding')} in {found} of {models}"
        if all({model.outputs, model.npu_cycles} == {Sameness.SAME} for model in self.models):
            return f"outputs and NPU cycles are identical in {models} and {modes}"
        return f"nothing was found in {models} and {modes}"

    @property
    def fixed(self) -> str:
        """The axes in which the modes do not differ, with their value; empty without any."""
        constant = [axis for axis in AXES if self.modes and axis not in self.axes]
        return ", ".join(f"{axis} = {value_on(self.modes[0], axis)}" for axis in constant)

    @property
    def cycles_origin(self) -> str:
        """Whether NPU cycles are an estimate, a model's or measured."""
        return CYCLES_ORIGIN[self.report.source]


def summarise(report: Report) -> Summary:
    """Arrange a report: whatever modes, models and findings it holds."""
    modes = tuple(dict.fromkeys(cell.mode for model in report.models for cell in cells_of(model)))
    models = tuple(_model(model, modes) for model in report.models)
    axes = tuple(axis for axis in AXES if len({value_on(mode, axis) for mode in modes}) > 1)
    return Summary(report, modes, axes, models, tuple(_gaps(models, modes)))


def value_on(mode: Mode, axis: str) -> str:
    """A mode's lifetime on one axis."""
    return str(getattr(mode, axis))


def cells_of(model: ModelReport) -> tuple[CellRecord, ...]:
    """The cells that a model was run in; none where an error came first."""
    return () if model.run is None else model.run.cells


def cell_in(model: ModelReport, mode: Mode) -> CellRecord | None:
    """The first cell of a model in a mode; None where it was not run in it."""
    return next((cell for cell in cells_of(model) if cell.mode == mode), None)


def warm_inference(cell: CellRecord | None) -> Inference | None:
    """The inference whose cost is shown: the last that completed, never the first of its cell."""
    if cell is None:
        return None
    completed = [each for each in cell.inferences if each.status == "ok" and each.index > 0]
    return completed[-1] if completed else None


def _model(model: ModelReport, modes: Sequence[Mode]) -> ModelSummary:
    comparison = model.comparison
    findings = () if comparison is None else comparison.findings
    checks = frozenset(finding.check for finding in findings)
    run_in = {cell.mode for cell in cells_of(model)}
    completed = [each for cell in cells_of(model) for each in cell.inferences if each.status == "ok"]
    same_outputs = comparison is not None and comparison.outputs_identical
    same_cycles = comparison is not None and comparison.npu_cycles_identical
    return ModelSummary(
        report=model,
        cells=tuple(_grid_cell(mode, findings, ran=mode in run_in) for mode in modes),
        elsewhere=tuple(finding for finding in findings if finding.mode not in modes),
        outputs=_sameness(same_outputs, differs=bool(checks & _OUTPUT_CHECKS)),
        npu_cycles=_sameness(same_cycles, differs=bool(checks & _CYCLE_CHECKS)),
        reference=_reference(model, differs="outputs-reference" in checks),
        cycles=completed[0].npu_cycles if completed else None,
    )


def _grid_cell(mode: Mode, findings: Sequence[Finding], *, ran: bool) -> GridCell:
    here = tuple(finding for finding in findings if finding.mode == mode)
    if any(finding.check == "status" for finding in here):
        return GridCell(mode, "error", here)
    if here:
        return GridCell(mode, "fail", here)
    return GridCell(mode, "pass" if ran else "not run", here)


def _sameness(same: bool, *, differs: bool) -> Sameness:
    if differs:
        return Sameness.DIFFERENT
    return Sameness.SAME if same else Sameness.UNKNOWN


def _reference(model: ModelReport, *, differs: bool) -> Sameness:
    if model.comparison is None or model.comparison.reference_equal is None:
        return Sameness.NOT_COMPARED
    return _sameness(model.comparison.reference_equal, differs=differs)


def _gaps(models: Sequence[ModelSummary], modes: Sequence[Mode]) -> Iterator[Gap]:
    if len(modes) == 1:
        yield Gap(None, "one mode was run, so nothing was held against another lifetime", str(modes[0]))
    for model in models:
        name, comparison = model.report.name, model.report.comparison
        if comparison is None:
            yield Gap(name, "nothing was compared", str(model.report.error or "the comparison is missing"))
        elif comparison.reference_equal is None:
            why = comparison.oracle_reason or comparison.oracle
            yield Gap(name, "outputs were not held against a reference implementation", why)
        for cell in model.cells:
            if cell.verdict == "not run" and comparison is not None:
                yield Gap(name, "the run ended before this mode did", str(cell.mode))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
