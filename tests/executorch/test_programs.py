"""What ExecuTorch exports for the Ethos-U85 gives on the NPU model what Arm's TOSA reference model computes.

`programs` was written by export.py, with the versions in made_with.json: each program with input sets, and
the outputs that the reference model has for the TOSA graph that Vela was given.
"""

from __future__ import annotations

import json
import os
import shutil
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
from harness.sim.npu.pooling import PassThrough
from harness.sim.npu.program import prepare

PROGRAMS = Path(__file__).with_name("programs")
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.pte"))
VARIABLE = "HARNESS_TEST_EXECUTORCH"
MEMORY = VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")
REGENERATION_SECONDS = 600


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
    assert len(NAMES) == 8


@pytest.mark.parametrize("name", NAMES)
def test_it_computes_what_the_tosa_reference_model_does(name):
    program = exported(name)
    assert len(program.inputs) >= 6
    assert len(set(program.outputs)) > 1
    assert program.differing() == []


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
@pytest.mark.parametrize("name", NAMES)
def test_another_export_computes_the_same_too(name, tmp_path):
    """With whatever versions the environment has: its programs are held against its own reference model."""
    if not (python := os.environ.get(VARIABLE)):
        pytest.skip(f"{VARIABLE} names no Python that has ExecuTorch's Arm backend and tosa-tools")
    script = shutil.copy(Path(__file__).with_name("export.py"), tmp_path)
    done = subprocess.run(
        [python, script, tmp_path, name], capture_output=True, text=True, timeout=REGENERATION_SECONDS
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert exported(name, tmp_path).differing() == []
