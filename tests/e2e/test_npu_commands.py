"""`harness npu` as a user meets it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from harness.cli.command_line import run_command_line
from harness.models.catalog import load_model
from harness.models.reference_networks import reference_network
from harness.models.vela import CompileOptions, compile_model

WIDTH, SCREEN = 100, 40


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def harness(capfd, monkeypatch, tmp_path) -> Callable[..., Done]:
    """A function that runs a `harness npu` command in this process, in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Done:
        code = run_command_line(["npu", *map(str, arguments)])
        return Done(code, *capfd.readouterr())

    return run


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["profile", "resnet9"], 2, "unknown model 'resnet9'"),
        (["profile", "ds_cnn", "--macs", "300"], 2, "'300' is not one of"),
        (["profile", "ds_cnn", "--memory-mode", "Fast"], 2, "there is no memory mode Fast"),
        (["profile", "ds_cnn", "--system-config", "Fast"], 2, "there is no system configuration Fast"),
        (["profile", "ds_cnn", "--json", "no/such/file.json"], 2, "cannot write no/such/file.json"),
        (["profile", "ds_cnn", "--trace", "no/such/file.json"], 2, "cannot write no/such/file.json"),
        (["profile", "ds_cnn", "--trace", "-", "--json", "-"], 2, "only one of --json and --trace"),
        (["run", "ds_cnn", "--input", "missing.npy"], 2, "cannot read input missing.npy"),
        (["run", "ds_cnn", "--input", "a", "--input", "b"], 2, "has 1 inputs, 2 were given"),
        (["disasm", "missing.tflite"], 2, "missing.tflite does not exist"),
        (["diff", "ds_cnn"], 2, "Missing argument 'RIGHT'"),
    ],
)
def test_bad_input_gets_one_clear_line_and_its_exit_code(harness, arguments, code, said):
    done = harness(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("mode", ["Sram_Only", "Dedicated_Sram"])
def test_a_profile_fits_a_screen(harness, mode):
    done = harness("profile", "ds_cnn", "--memory-mode", mode)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= SCREEN
    assert not re.search(r"\d…", done.stdout), "a number is cut off"
    assert "estimate" in done.stdout


def test_all_operations_of_a_long_network_are_shown_when_asked_for(harness):
    short, long = harness("profile", "ds_cnn"), harness("profile", "ds_cnn", "--all")
    hidden = int(re.search(r"^(\d+) more +--all", short.stdout, re.MULTILINE)[1])
    assert len(long.stdout.splitlines()) == len(short.stdout.splitlines()) + hidden - 1
    assert "--all" not in long.stdout


def test_a_profile_as_json_can_be_printed_and_written(harness, tmp_path):
    printed = harness("profile", "ds_cnn", "--json", "-")
    harness("profile", "ds_cnn", "--json", "p.json", "--trace", "t.json")
    assert json.loads(printed.stdout) == json.loads((tmp_path / "p.json").read_text())
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]


def test_a_stream_in_words_names_each_operation_and_its_layer(harness):
    done = harness("disasm", "ds_cnn")
    lines = done.stdout.splitlines()
    assert lines[0] == "CONV: layer 0 CONV_2D layer0/conv_2d"
    assert (
        "OP_CONV" in lines[lines.index("DEPTHWISE: layer 1 DEPTHWISE_CONV_2D layer1/depthwise_conv_2d") - 1]
    )
    assert lines[-1].split()[1] == "OP_STOP"


def test_a_network_runs_without_firmware_and_gives_what_it_gives_with_it(harness, tmp_path):
    np.save(tmp_path / "in.npy", np.arange(490, dtype=np.uint8).view(np.int8).reshape(1, 49, 10, 1))
    alone = harness("run", "ds_cnn", "--input", "in.npy", "--output-dir", "alone")
    assert alone.returncode == 0, alone.stderr
    subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", "ds_cnn", "--input", "in.npy", "--output-dir", "board"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=120,
    )
    outputs = [np.load(tmp_path / folder / "output0.npy") for folder in ("alone", "board")]
    assert np.array_equal(*outputs)


def test_an_npu_fault_is_one_line_and_an_exit_code_of_its_own(harness, tmp_path):
    compiled = compile_model(load_model("ds_cnn"), CompileOptions(256))
    path = tmp_path / "broken.npz"
    _write_raw(path, compiled.command_stream[:-4] + (0x3FF).to_bytes(4, "little"), compiled)
    done = harness("run", path)
    assert done.returncode == 4, done.stderr
    assert "parse fault at stream offset" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_equal_models_differ_in_nothing(harness, tmp_path):
    (tmp_path / "copy.tflite").write_bytes(reference_network("ds_cnn"))
    done = harness("diff", "ds_cnn", "copy.tflite")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["the command streams are equal", "the weights are equal"]


def test_different_models_end_with_exit_code_1_and_show_the_first_command(harness):
    done = harness("diff", "ds_cnn", "resnet8")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("the command streams differ before CONV: layer 0 CONV_2D layer0/conv_2d")
    assert re.search(r"^- 0x00004  OFM_SCALE", done.stdout, re.MULTILINE)
    assert re.search(r"^\+ 0x00004  OFM_SCALE", done.stdout, re.MULTILINE)


def _write_raw(path, stream, compiled):
    """Write the compiler's raw output of a network with one input and one output."""
    columns = {}
    for kind, (tensor,) in (("input", compiled.inputs), ("output", compiled.outputs)):
        columns |= {
            f"{kind}_shape": np.array([[*(1,) * (6 - len(tensor.shape)), *tensor.shape]]),
            f"{kind}_elem_size": np.array([np.dtype(tensor.dtype).itemsize]),
            f"{kind}_region": np.array([tensor.region]),
            f"{kind}_offset": np.array([tensor.offset]),
        }
    np.savez(
        path,
        cmd_data=np.frombuffer(stream, np.uint8),
        weight_data=np.frombuffer(compiled.weights, np.uint8),
        scratch_size=np.array(compiled.scratch_size),
        scratch_fast_size=np.array(compiled.scratch_fast_size),
        variable_shape=np.zeros(0),
        **columns,
    )
