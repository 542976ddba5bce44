"""A small run that passes every check, for tests to spoil in one place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.models.compiled import Bytes, CompiledModel, Tensor
from harness.models.inputs import InputSet
from harness.plan import DRIVER_MODES, PER_INFERENCE, Mode, Plan, PlannedModel, plan_comparison
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

OUTPUTS = {"A": (b"\x01\x02",), "B": (b"\x03\x04",)}


def stage(**phases: int) -> Stage:
    instructions = {name: Instructions(phases.get(name, 0)) for name in PHASES}
    return Stage(instructions, dict.fromkeys(COUNTS, 0))


def with_counts(of: Stage, **counts: int) -> Stage:
    return replace(of, counts={**of.counts, **counts})


def inference(index: int, label: str, cost: int) -> Inference:
    return Inference(
        index=index,
        input=label,
        status="ok",
        npu_cycles=NpuCycles(5000),
        elapsed_ns=5040,
        stage=with_counts(stage(create=cost, submit=20, wait=30), inferences=1),
        outputs=OUTPUTS[label],
    )


def cell(mode: Mode) -> CellRecord:
    cost = 1000 if mode == PER_INFERENCE else 100
    return CellRecord(
        model=0,
        mode=mode,
        status="ok",
        init=stage(),
        inferences=tuple(inference(index, label, cost) for index, label in enumerate("ABA")),
        destroy=stage(),
        live_objects=0,
        pool_used=0,
        pool_peak=64,
    )


@pytest.fixture
def run() -> RunRecord:
    cells = tuple(cell(mode) for mode in DRIVER_MODES)
    return RunRecord("b" * 16, 0x20007000, 0x20000118, Instructions(3), "ok", cells, (), ())


@pytest.fixture
def spoil(run: RunRecord):
    """A function that changes one inference of one cell of the run."""

    def change(cell_index: int, inference_index: int, **fields: object) -> RunRecord:
        cells = list(run.cells)
        inferences = list(cells[cell_index].inferences)
        inferences[inference_index] = replace(inferences[inference_index], **fields)
        cells[cell_index] = replace(cells[cell_index], inferences=tuple(inferences))
        return replace(run, cells=tuple(cells))

    return change


@pytest.fixture
def compiled() -> CompiledModel:
    tensor = Tensor("t", (1, 2), "int8", 3, Bytes(0), Bytes(2))
    return CompiledModel(
        name="tiny",
        source_sha256="0" * 64,
        macs=256,
        command_stream=b"COP2",
        weights=b"",
        scratch_size=Bytes(16),
        scratch_fast_size=Bytes(0),
        inputs=(tensor,),
        outputs=(replace(tensor, region=4),),
        vela_version="5.2.0",
        vela_options=(),
        tflite=None,
    )


@pytest.fixture
def plan(compiled: CompiledModel) -> Plan:
    inputs = (InputSet("A", (b"\x00\x00",)), InputSet("B", (b"\x01\x01",)))
    return plan_comparison(PlannedModel(compiled, inputs), DRIVER_MODES, (0, 1, 0))
