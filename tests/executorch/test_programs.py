"""What ExecuTorch exports for the Ethos-U85 gives on the NPU model what Arm's TOSA reference model computes.

`programs` was written by export.py, with the versions in made_with.json: each program with input sets, and
the outputs that the reference model has for the TOSA graph that Vela was given.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from harness.cli.command_line import run_command_line
from harness.models.catalog import load_model
from harness.models.compiled import CompiledModel
from harness.models.inputs import standard_inputs
from harness.models.vela import compile_model
from harness.npu_tools.inference import infer
from harness.sim.npu import NpuConfig, parse_payload
from harness.sim.npu.checks.footprint import footprint
from harness.sim.npu.cycles import VelaProfile
from harness.sim.npu.faults import Channel
from harness.sim.npu.machine import LUT_BYTES, Machine
from harness.sim.npu.pooling import PassThrough
from harness.sim.npu.program import prepare

from ..npu.conftest import FlatMemory

PROGRAMS = Path(__file__).with_name("programs")
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.pte"))
VARIABLE = "HARNESS_TEST_EXECUTORCH"
MEMORY = VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")
EXPORT_SECONDS = 900

# Vela 5.1 and 5.2 load one table for a chain of operations that needs two: the forget gate's sigmoid finds
# the tanh that a later operation of its chain was given. (name, offset of the operation, its table)
WRONG_TABLE = [("recurrent_int16", 0xA2C, 0xCC0)]


@dataclass(frozen=True)
class Exported:
    """A program, its input sets, and for each of them the outputs of the reference model."""

    compiled: CompiledModel
    inputs: list[tuple[bytes, ...]]
    outputs: list[tuple[bytes, ...]]

    def differing(self) -> list[int]:
        """The input sets for which the NPU model computes something else."""
        return [
            index
            for index, (given, expected) in enumerate(zip(self.inputs, self.outputs, strict=True))
            if infer(self.compiled, given, MEMORY).outputs != expected
        ]


def exported(name: str, folder: Path = PROGRAMS) -> Exported:
    with np.load(folder / f"{name}.npz") as arrays:
        compiled = compile_model(load_model(folder / f"{name}.pte"))
        columns = {
            kind: [arrays[f"{kind}{index}"] for index in range(len(tensors))]
            for kind, tensors in (("input", compiled.inputs), ("output", compiled.outputs))
        }
        assert len(arrays) == sum(map(len, columns.values()))
    inputs, outputs = (
        [tuple(array.tobytes() for array in sample) for sample in zip(*columns[kind], strict=True)]
        for kind in ("input", "output")
    )
    return Exported(compiled, inputs, outputs)


def test_there_are_programs():
    assert len(NAMES) == 11


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {name for name, *_ in WRONG_TABLE}])
def test_it_computes_what_the_tosa_reference_model_does(name):
    program = exported(name)
    assert len(program.inputs) >= 6
    assert len(set(program.outputs)) > 1
    assert program.differing() == []


@pytest.mark.parametrize(("name", "step", "table"), WRONG_TABLE)
def test_where_the_compiler_loads_one_table_of_two_it_computes_that_with_the_other(name, step, table):
    program = exported(name)
    assert program.differing() == [0, 1, 2, 3, 4, 5]
    repaired = [with_table(program.compiled, given, step, table) for given in program.inputs]
    assert repaired == program.outputs


def with_table(
    compiled: CompiledModel, inputs: tuple[bytes, ...], step: int, table: int
) -> tuple[bytes, ...]:
    """The outputs when the operation at one offset of the stream finds another table, from the weights."""
    size = len(compiled.weights)
    memory = FlatMemory(size + compiled.scratch_size)
    memory.content[:size] = np.frombuffer(compiled.weights, np.uint8)
    for tensor, data in zip(compiled.inputs, inputs, strict=True):
        memory.view(size + tensor.offset, tensor.size)[:] = np.frombuffer(data, np.uint8)
    machine = Machine(memory)
    machine.start([0, size])
    program = prepare(parse_payload(compiled.command_stream).stream, NpuConfig(compiled.macs))
    assert step in [each.command.offset for each in program.steps]
    for each in program.steps:
        loaded = machine.lut.copy()
        if each.command.offset == step:
            machine.lut[:] = memory.view(table, LUT_BYTES)
        each.operation.run(machine)
        if each.command.offset == step:
            machine.lut[:] = loaded
    return tuple(memory.view(size + each.offset, each.size).tobytes() for each in compiled.outputs)


def test_a_wrong_bit_in_the_weights_is_noticed():
    program = exported("segments")
    (scales,) = (each for each in scale_tables(program.compiled) if each.size)
    weights = bytearray(program.compiled.weights)
    weights[scales.offset + 4] ^= 0x80  # the lowest byte of the first channel's multiplier
    weights[scales.offset + 7] ^= 0x10  # and its highest
    spoilt = Exported(
        CompiledModel(**{**vars(program.compiled), "weights": bytes(weights)}),
        program.inputs,
        program.outputs,
    )
    assert spoilt.differing()


def test_scales_of_a_pooling_count_as_read():
    compiled = exported("segments").compiled
    (scales,) = scale_tables(compiled)
    # 10 bytes for each of 4 channels, which the compiler rounds up to 16.
    assert (scales.region, scales.writes, scales.size) == (0, False, 160)
    assert 0 <= scales.offset <= len(compiled.weights) - scales.size


def scale_tables(compiled: CompiledModel):
    """What pooling operations in mode NONE read beside their feature maps."""
    program = prepare(parse_payload(compiled.command_stream).stream, NpuConfig(compiled.macs))
    assert program.fault is None
    passing = [step for step in program.steps if isinstance(step.operation, PassThrough)]
    return [
        touch for step in passing for touch in footprint(step.operation) if touch.channel is Channel.SCALE
    ]


def test_all_are_compared_in_all_modes(tmp_path):
    report = tmp_path / "result.json"
    files = [str(PROGRAMS / f"{name}.pte") for name in NAMES]
    assert run_command_line(["compare", *files, "--npu-checks", "--json", str(report)]) == 0
    result = json.loads(report.read_text())
    assert result["npu"]["macs"] is None
    for model in result["models"]:
        compiled = exported(model["name"]).compiled
        assert (model["verdict"], model["macs"]) == ("pass", compiled.macs)
        expected = {
            each.label: [sha256(one).hexdigest() for one in infer(compiled, each.tensors, MEMORY).outputs]
            for each in standard_inputs(compiled)
        }
        for inference in (each for mode in model["modes"] for each in mode["inferences"]):
            assert [one["sha256"] for one in inference["outputs"]] == expected[inference["input"]]


def test_one_image_has_one_mac_count(capsys):
    files = [str(PROGRAMS / f"{name}.pte") for name in ("keywords", "residual")]
    assert run_command_line(["compare", "--together", "--modes", "driver", *files]) == 2
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "one MAC count for a boot, and these models are for several (keywords: 128, residual: 256)" in shown
    )


@pytest.mark.proof
def test_what_another_version_exports_computes_the_same_too(tmp_path):
    """With whatever versions the environment has: its programs are held against its own reference model."""
    if not (python := os.environ.get(VARIABLE)):
        pytest.skip(f"{VARIABLE} names no Python that has ExecuTorch's Arm backend and tosa-tools")
    script = Path(__file__).with_name("export.py")
    done = subprocess.run(
        [python, script, tmp_path], cwd=tmp_path, capture_output=True, text=True, timeout=EXPORT_SECONDS
    )
    assert done.returncode == 0, done.stderr[-2000:]
    names = sorted(path.stem for path in tmp_path.glob("*.pte"))
    assert set(NAMES) < set(names)
    differing = {name: found for name in names if (found := exported(name, tmp_path).differing())}
    assert set(differing) == {name for name, *_ in WRONG_TABLE}
