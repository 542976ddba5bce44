"""The report on a comparison of several models, and its JSON form (schema 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.errors import ExitCode, HarnessError
from harness.models.compiled import CompiledModel
from harness.plan import Load, Mode
from harness.results.board_report import CYCLES_KIND, BoardReport, Source, Verdict, compiled_json, error_json
from harness.results.cost import Explanation
from harness.results.equivalence import Comparison, Saving
from harness.results.implementations import ImplementationChange
from harness.results.persistence import Persistence
from harness.results.run_record import CellRecord, Inference, RunRecord, Stage

_INSTRUCTIONS_KIND: Mapping[Source, str] = {"simulator": "counted", "fvp": "model", "hardware": "measured"}


@dataclass(frozen=True)
class ModelReport:
    """What became of one model: a comparison, or the error that prevented it."""

    name: str
    compiled: CompiledModel | None = None
    run: RunRecord | None = None
    comparison: Comparison | None = None
    explanation: Explanation | None = None  #: of the driver saving; None unless both lifetimes were run
    persistence: tuple[Persistence, ...] = ()  #: the price of each mode that keeps something
    implementations: tuple[ImplementationChange, ...] = ()  #: of each mode, where several drivers were run
    error: HarnessError | None = None

    @property
    def verdict(self) -> Verdict:
        """`error` when there is nothing to compare, or the firmware or NPU failed."""
        if self.comparison is None or self.comparison.faulted:
            return "error"
        return "pass" if self.comparison.passed else "fail"

    @property
    def exit_code(self) -> ExitCode:
        """What this model alone would end the command with."""
        if self.error is not None:
            return self.error.exit_code
        if self.comparison is None:
            return ExitCode.BUG
        if self.comparison.faulted:
            return ExitCode.FAULT
        return ExitCode.OK if self.comparison.passed else ExitCode.FAILED


@dataclass(frozen=True)
class Report(BoardReport[ModelReport]):
    """The outcome of a comparison of lifetimes."""

    load: Load = field(default_factory=Load)
    together: bool = False  #: whether all models were loaded at once

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values; it depends on nothing but the results."""
        load = {**asdict(self.load), "together": self.together}
        return {**self.framed(lambda model: _model(model, self.source)), "load": load}


def _model(model: ModelReport, source: Source) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": model.name, "sha256": None, "verdict": model.verdict, "findings": []}
    if model.compiled is not None:
        entry |= compiled_json(model.compiled)
    if model.error is not None:
        entry["error"] = error_json(model.error)
    if model.comparison is not None:
        entry["findings"] = [
            {
                "check": finding.check,
                "mode": None if finding.mode is None else _mode(finding.mode),
                "index": finding.index,
                "detail": finding.detail,
                **({"implementation": finding.implementation} if finding.implementation else {}),
            }
            for finding in model.comparison.findings
        ]
        entry["comparison"] = _comparison(model.comparison, model.explanation, source)
        entry["persistence"] = [_persistence(price) for price in model.persistence]
        entry["implementations"] = [_implementation(change) for change in model.implementations]
    if model.run is not None and model.compiled is not None:
        entry["measuring_window"] = model.run.window
        entry["modes"] = [_cell(cell, model.compiled, model, source) for cell in model.run.cells]
    return entry


def _comparison(comparison: Comparison, explanation: Explanation | None, source: Source) -> dict[str, Any]:
    saved = comparison.cpu_saved_percent
    return {
        "outputs_identical": comparison.outputs_identical,
        "npu_cycles_identical": comparison.npu_cycles_identical,
        # A simulated count follows from the stream and its addresses; only a real NPU can surprise.
        "npu_cycles_check": "by-construction" if source == "simulator" else "observed",
        "reference": {
            "oracle": comparison.oracle,
            "equal": comparison.reference_equal,
            "reason": comparison.oracle_reason,
        },
        "cpu_saved_percent": None if saved is None else round(saved, 3),
        "savings": [_saving(saving) for saving in comparison.savings],
        "explained": None if explanation is None else _explanation(explanation),
    }


def _saving(saving: Saving) -> dict[str, Any]:
    return {
        "before": _mode(saving.before),
        "after": _mode(saving.after),
        "percent": round(saving.percent, 3),
        "before_instructions": saving.before_instructions,
        "after_instructions": saving.after_instructions,
    }


def _explanation(explanation: Explanation) -> dict[str, Any]:
    return {
        "saved_instructions": explanation.saved,
        "parts": {name: round(value, 1) for name, value in explanation.parts.items()},
        "residual_percent": round(explanation.residual_percent, 3),
    }


def _implementation(change: ImplementationChange) -> dict[str, Any]:
    return {
        "mode": _mode(change.mode),
        "before": change.before,
        "after": change.after,
        "before_instructions": change.before_instructions,
        "after_instructions": change.after_instructions,
        "percent": round(change.percent, 3),
        "counts": {name: list(pair) for name, pair in change.counts.items()},
    }


def _persistence(price: Persistence) -> dict[str, Any]:
    return {
        "mode": _mode(price.mode),
        "loaded": price.copies,
        "held_bytes": price.held_bytes,
        "peak_bytes": price.peak_bytes,
        "pool_bytes": price.pool_bytes,
        "initialisation_instructions": price.initialisation,
        "saved_per_inference": price.saved_per_inference,
        "pays_off_after_inferences": price.pays_off_after,
        "most_loaded": price.most_loaded,
    }


def _mode(mode: Mode) -> dict[str, str]:
    return {"driver": str(mode.driver), "io": mode.io, "temp": mode.temp}


def _cell(cell: CellRecord, compiled: CompiledModel, model: ModelReport, source: Source) -> dict[str, Any]:
    findings = () if model.comparison is None else model.comparison.findings
    return {
        "mode": _mode(cell.mode),
        "verdict": "pass" if not any(finding.mode == cell.mode for finding in findings) else "fail",
        "status": cell.status,
        "live_objects_at_exit": cell.live_objects,
        "pool_peak_bytes": cell.pool_peak,
        "init": _stage(cell.init),
        "destroy": _stage(cell.destroy),
        "inferences": [_inference(inference, compiled, source) for inference in cell.inferences],
    }


def _inference(inference: Inference, compiled: CompiledModel, source: Source) -> dict[str, Any]:
    stage = _stage(inference.stage)
    return {
        "index": inference.index,
        "input": inference.input,
        "status": inference.status,
        "npu_cycles": inference.npu_cycles,
        "npu_cycles_kind": CYCLES_KIND[source],
        "cpu_instructions_kind": _INSTRUCTIONS_KIND[source],
        **stage,
        "outputs": [
            {"name": tensor.name, "shape": list(tensor.shape), "dtype": tensor.dtype, "sha256": digest}
            for tensor, digest in zip(compiled.outputs, inference.digests, strict=False)
        ],
    }


def _stage(stage: Stage) -> dict[str, Any]:
    phases = dict(stage.phases)
    sram_clear = phases.pop("sram_clear")
    counts = stage.counts
    return {
        "cpu_instructions": phases,
        "sram_clear": sram_clear,
        "counts": {
            "objects_created": counts["networks"] + counts["buffers"] + counts["inferences"],
            "bytes_copied": counts["copied"],
            "bytes_zeroed": counts["zeroed"],
            "bytes_cleaned": counts["cleaned"],
            "bytes_invalidated": counts["invalidated"],
            "networks_created": counts["networks"],
            "buffers_created": counts["buffers"],
            "inferences_created": counts["inferences"],
            "maps": counts["maps"],
            "unmaps": counts["unmaps"],
            "page_table_entries_written": counts["pages"],
            "tlb_operations": counts["tlb"],
            "allocations": counts["allocations"],
            "frees": counts["frees"],
            "allocations_reused": counts["reused"],
        },
    }
