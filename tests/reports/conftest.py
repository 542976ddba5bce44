"""Small reports, made by hand: sound ones, and ones with a seeded finding."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.errors import BuildError
from harness.models.compiled import Bytes, CompiledModel, Tensor
from harness.plan import ALL_MODES, PER_INFERENCE, PERSISTENT, Mode
from harness.results.equivalence import Comparison, Saving
from harness.results.finding import Finding
from harness.results.report import ModelReport, Report
from harness.results.run_record import (
    COUNTS,
    PHASES,
    CellRecord,
    Inference,
    Instructions,
    NpuCycles,
    RunRecord,
    Stage,
)

OUTPUT = bytes(range(24))


def stage(mode: Mode) -> Stage:
    """Costs and counts that differ on each axis."""
    driver, io, temp = mode.driver == "persistent", mode.io == "persistent", mode.temp == "caching"
    phases = {
        "create": 60 if driver else 31_000,
        "write_inputs": 180 if io else 420,
        "submit": 205,
        "wait": 109_000,
        "read_outputs": 150 if io else 390,
        "release": 90 if driver else 21_500,
        "state": 30 if driver else 60,
    }
    counts = dict.fromkeys(COUNTS, 0) | {
        "networks": 0 if driver else 1,
        "buffers": 0 if driver else 4,
        "inferences": 1,
        "copied": 3_082 if driver else 84_000,
        "zeroed": 96 if driver else 93_000,
        "maps": 0 if io else 2,
        "unmaps": 0 if io else 2,
        "tlb": 0 if io else 4,
        "allocations": 0 if temp else 2,
    }
    return Stage({name: Instructions(phases.get(name, 0)) for name in PHASES}, counts)


def cell(mode: Mode) -> CellRecord:
    inferences = tuple(
        Inference(index, label, "ok", NpuCycles(109_096), 109_200, stage(mode), (OUTPUT,))
        for index, label in enumerate("ABA")
    )
    return CellRecord(
        0, mode, "ok", stage(PER_INFERENCE), inferences, stage(PER_INFERENCE), 0, 0, pool_peak=182_320
    )


def run_of(modes: tuple[Mode, ...]) -> RunRecord:
    return RunRecord("b" * 16, 0x20007000, 0x20000118, Instructions(3), "ok", tuple(map(cell, modes)), (), ())


def comparison_of(modes: tuple[Mode, ...], *findings: Finding) -> Comparison:
    checks = {finding.check for finding in findings}
    costs = {mode: float(stage(mode).cost) for mode in modes}
    return Comparison(
        findings=findings,
        outputs_identical="outputs-modes" not in checks and "status" not in checks,
        npu_cycles_identical="npu-cycles" not in checks and "status" not in checks,
        oracle="tflite-micro",
        oracle_reason="",
        reference_equal=not checks & {"outputs-reference", "status"},
        savings=tuple(Saving(modes[0], mode, costs[modes[0]], costs[mode]) for mode in modes[1:]),
    )


def compiled(name: str) -> CompiledModel:
    tensor = Tensor("scores", (2, 3, 4), "int8", 4, Bytes(0), Bytes(24))
    return CompiledModel(
        name=name,
        source_sha256="0123456789abcdef" * 4,
        macs=256,
        command_stream=b"COP2",
        weights=b"",
        scratch_size=Bytes(16),
        scratch_fast_size=Bytes(0),
        inputs=(replace(tensor, region=3),),
        outputs=(tensor,),
        vela_version="5.2.0",
        vela_options=("--memory-mode=Sram_Only",),
        tflite=None,
    )


def model_of(name: str, *findings: Finding, modes: tuple[Mode, ...] = ALL_MODES) -> ModelReport:
    return ModelReport(name, compiled(name), run_of(modes), comparison_of(modes, *findings))


def report_of(*models: ModelReport) -> Report:
    return Report("0.1.0", "sim", "simulator", 256, {"vela": "5.2.0", "unicorn": "2.1.4"}, models)


def spoilt(name: str, mode: Mode = PERSISTENT) -> ModelReport:
    """A model whose second inference gives other bytes in one mode, in rows 1 and columns 1 to 2."""
    report = model_of(
        name, Finding("outputs-modes", mode, 1, f"output differs from {PER_INFERENCE}: byte 17")
    )
    assert report.run is not None
    wrong = bytearray(OUTPUT)
    wrong[17] ^= 0xFF  # element [1, 1, 1] of 2 x 3 x 4
    wrong[22] ^= 0xFF  # element [1, 2, 2]
    cells = tuple(
        replace(
            each,
            inferences=tuple(
                replace(inference, outputs=(bytes(wrong),)) if inference.index == 1 else inference
                for inference in each.inferences
            ),
        )
        if each.mode == mode
        else each
        for each in report.run.cells
    )
    return replace(report, run=replace(report.run, cells=cells))


def failed() -> ModelReport:
    """A model that an error kept from running."""
    error = BuildError("zig failed with code 1", hint="run `harness doctor`", evidence=("plan.c:3: error",))
    return ModelReport("broken", error=error)


def unreferenced(name: str) -> ModelReport:
    """A model for which there is no reference implementation."""
    report = model_of(name)
    assert report.comparison is not None
    why = "it was compiled before"
    return replace(
        report, comparison=replace(report.comparison, reference_equal=None, oracle="none", oracle_reason=why)
    )


@pytest.fixture
def modes() -> tuple[Mode, ...]:
    return ALL_MODES


@pytest.fixture
def make() -> SimpleNamespace:
    """The builders above, by name."""
    return SimpleNamespace(
        model=model_of, spoilt=spoilt, failed=failed, unreferenced=unreferenced, report=report_of
    )


@pytest.fixture
def sound() -> Report:
    """Two models that pass in all eight modes."""
    return report_of(model_of("resnet8"), model_of("ds_cnn"))


@pytest.fixture
def mixed() -> Report:
    """One model each that passes, differs, has no reference, and could not be run."""
    return report_of(model_of("resnet8"), spoilt("ds_cnn"), unreferenced("own"), failed())
