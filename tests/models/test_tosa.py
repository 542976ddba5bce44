"""Graphs of TOSA are compiled and run as .tflite files are, and held against Arm's TOSA reference model.

The folder `tosa` was made by its make.py: four graphs, each with input sets and what that makes of them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.build.firmware_tree import Edit, FirmwareTree
from harness.cli.command_line import run_command_line
from harness.errors import BuildError, ModelError
from harness.examination import run_model
from harness.models.catalog import ModelKind, ModelSource, load_model
from harness.models.compiled import INPUT_REGION
from harness.models.flatbuffer import root_table
from harness.models.inputs import standard_inputs
from harness.models.reference import NOT_COMPARED, reference_outputs
from harness.models.samples import NoReferenceError
from harness.models.tosa_file import read_tosa
from harness.models.tosa_oracle import VARIABLE, find_reference_model, tosa_outputs
from harness.models.vela import CompileOptions, compile_model
from harness.npu_tools.inference import infer
from harness.settings import resolve_settings
from harness.sim.npu.cycles import VelaProfile

GRAPHS = Path(__file__).with_name("tosa")
NAMES = ("branch", "choice", "convolution", "loop")
MEMORY = VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")


def compiled(name: str, macs: int = 256):
    return compile_model(load_model(GRAPHS / f"{name}.tosa"), CompileOptions(macs))


def samples(name: str) -> tuple[list[tuple[bytes, ...]], list[tuple[bytes, ...]]]:
    """The input sets, and the outputs of the reference model."""
    with np.load(GRAPHS / f"{name}.npz") as arrays:
        columns = {
            kind: [arrays[each] for each in sorted(arrays) if each.startswith(kind)]
            for kind in ("input", "output")
        }
    inputs, outputs = (
        [tuple(array.tobytes() for array in sample) for sample in zip(*columns[kind], strict=True)]
        for kind in ("input", "output")
    )
    return inputs, outputs


@pytest.fixture
def no_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A function that has a Python with other tosa-tools stand in: a body of `run`, from graph and inputs."""

    def install(body: str) -> None:
        version = sha256(body.encode()).hexdigest()[:8]  # what it says is cached by its version
        (tmp_path / "tosa_reference_model.py").write_text(
            "import enum\n"
            "GraphStatus = enum.Enum('GraphStatus', 'TOSA_VALID TOSA_UNPREDICTABLE TOSA_ERROR')\n"
            f"def run(graph, inputs, verbosity):\n    {body}\n"
        )
        python = tmp_path / "python"
        python.write_text(
            f"#!{sys.executable}\n"
            "import runpy, sys\n"
            f"if '-c' in sys.argv:\n    print('\"{version}\"')\n    sys.exit()\n"
            f"sys.path.insert(0, {str(tmp_path)!r})\n"
            "sys.argv = sys.argv[sys.argv.index('-I') + 1:]\n"
            "runpy.run_path(sys.argv[0], run_name='__main__')\n"
        )
        python.chmod(0o755)
        monkeypatch.setenv(VARIABLE, str(python))

    return install


@pytest.mark.parametrize("macs", [128, 256, 2048])
@pytest.mark.parametrize("name", NAMES)
def test_it_computes_what_the_reference_model_does(name, macs):
    model = compiled(name, macs)
    inputs, outputs = samples(name)
    assert len(inputs) == 6
    assert len(set(outputs)) == 6
    assert [infer(model, each, MEMORY).outputs for each in inputs] == outputs


def test_inputs_may_lie_in_any_order():
    """The compiler places them by size; the runner follows it, and the outputs stay those of the network."""
    model = compiled("choice")
    assert [tensor.region for tensor in model.inputs] == [INPUT_REGION] * 3
    assert sorted(model.inputs, key=lambda tensor: tensor.offset) != list(model.inputs)


def test_a_runner_that_takes_the_networks_order_is_noticed():
    """The seeded defect: buffers are numbered as inputs are."""
    model = compiled("choice")
    given = standard_inputs(model)
    expected = tuple(sha256(one).hexdigest() for one in infer(model, given[0].tensors, MEMORY).outputs)
    chosen = resolve_settings(modes="driver")
    defect = Edit("runner/steps.c", "execution->model->input_buffers[index]", "index")
    for edits, right in (((), True), ((defect,), False)):
        record = run_model(model, given, (0,), replace(chosen, firmware=FirmwareTree(edits=edits)))
        results = [cell.inferences[0] for cell in record.cells]
        assert [each.status == "ok" and each.digests == expected for each in results] == [right, right]


def test_graphs_are_compared_in_all_modes(tmp_path, no_reference):
    report = tmp_path / "result.json"
    files = [str(GRAPHS / f"{name}.tosa") for name in NAMES]
    assert run_command_line(["compare", *files, "--npu-checks", "--json", str(report)]) == 0
    for model in json.loads(report.read_text())["models"]:
        network = compiled(model["name"])
        expected = {
            each.label: [sha256(one).hexdigest() for one in infer(network, each.tensors, MEMORY).outputs]
            for each in standard_inputs(network)
        }
        for inference in (each for mode in model["modes"] for each in mode["inferences"]):
            assert [one["sha256"] for one in inference["outputs"]] == expected[inference["input"]]
        reference = model["comparison"]["reference"]
        assert (reference["oracle"], reference["equal"]) == (NOT_COMPARED, None)
        assert VARIABLE in reference["reason"]


def test_a_profile_of_a_network_that_jumps_is_refused(capsys):
    assert run_command_line(["npu", "profile", str(GRAPHS / "loop.tosa")]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "loop jumps by a result at stream offset" in shown
    assert "harness npu run shows the cycles of one inference" in shown


def test_truth_values_are_fed_as_zero_and_one():
    truth, *others = standard_inputs(compiled("choice"))[0].tensors
    assert set(truth) == {0, 1}
    assert len(set(others[0])) > 200


@pytest.mark.parametrize("dtype", [6, 7])  # INT48, FP32
def test_another_type_is_named(dtype):
    graph = (GRAPHS / "convolution.tosa").read_bytes()
    (block,) = root_table(graph).tables(1)[0].tables(1)
    (tensor,) = (each for each in block.tables(2) if each.text(0) == "input-0")
    position = tensor._position(2)
    changed = graph[:position] + dtype.to_bytes(4, "little") + graph[position + 4 :]
    with pytest.raises(ModelError, match=f"net: the input 'input-0' has the type {dtype} .* allowed: bool"):
        read_tosa("net", changed)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_a_graph_or_refused(data):
    content = bytearray((GRAPHS / "branch.tosa").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    _is_read_or_refused(bytes(content))


@pytest.mark.parametrize("kept", [8, 100, 400, 800])
def test_a_truncated_file_is_refused(kept):
    with pytest.raises(ModelError, match=r"net is a damaged \.tosa file"):
        read_tosa("net", (GRAPHS / "branch.tosa").read_bytes()[:kept])


def test_any_part_of_a_file_is_a_graph_or_refused():
    content = (GRAPHS / "branch.tosa").read_bytes()
    for kept in range(8, len(content), 7):
        _is_read_or_refused(content[:kept])


def _is_read_or_refused(content: bytes) -> None:
    try:
        graph = read_tosa("net", content)
    except ModelError:
        return
    assert all(tensor.size > 0 for tensor in (*graph.input_tensors, *graph.output_tensors))


def test_a_graph_that_vela_refuses_is_an_error_with_its_words():
    source = load_model(GRAPHS / "branch.tosa")
    with pytest.raises(ModelError, match="Vela failed on net") as caught:
        compile_model(ModelSource("net", source.data[:-16], ModelKind.TOSA))
    assert caught.value.evidence


class TestOracle:
    def test_without_one_nothing_is_compared(self, no_reference):
        model = compiled("branch")
        result = reference_outputs(model, standard_inputs(model))
        assert (result.oracle, result.digests) == (NOT_COMPARED, None)
        assert VARIABLE in result.reason

    def test_a_wrong_output_is_noticed(self, stand_in, tmp_path):
        stand_in("return [inputs[1]], GraphStatus.TOSA_VALID")
        report = tmp_path / "result.json"
        path = str(GRAPHS / "branch.tosa")
        assert run_command_line(["compare", path, "--modes", "driver", "--json", str(report)]) == 1
        (model,) = json.loads(report.read_text())["models"]
        assert {finding["check"] for finding in model["findings"]} == {"outputs-reference"}
        assert model["comparison"]["reference"]["oracle"].startswith("TOSA reference model ")

    def test_what_is_unpredictable_is_not_compared(self, stand_in):
        stand_in("return [], GraphStatus.TOSA_UNPREDICTABLE")
        model = compiled("branch")
        result = reference_outputs(model, standard_inputs(model))
        assert (result.oracle, result.digests) == (NOT_COMPARED, None)
        assert "unpredictable" in result.reason

    def test_a_graph_that_it_refuses_is_an_error_with_its_words(self, stand_in):
        stand_in("return [], GraphStatus.TOSA_ERROR")
        with pytest.raises(ModelError, match="failed on branch with exit status 1") as caught:
            _ask("branch")
        assert not isinstance(caught.value, NoReferenceError)
        assert "the graph is TOSA_ERROR" in " ".join(caught.value.evidence)

    def test_its_crash_is_named(self, stand_in):
        stand_in("import os; os.abort()")
        with pytest.raises(ModelError, match="crashed on branch: it was killed by SIGABRT"):
            _ask("branch")

    def test_a_sample_of_another_size_is_refused(self, stand_in):
        stand_in("return inputs, GraphStatus.TOSA_VALID")
        with pytest.raises(ModelError, match="branch takes inputs of"):
            tosa_outputs(
                find_reference_model(), "branch", (GRAPHS / "branch.tosa").read_bytes(), [(b"", b"")]
            )

    @pytest.mark.parametrize(
        ("python", "reason"),
        [("absent", "cannot be run"), (shutil.which("false"), "has no tosa-tools")],
    )
    def test_a_python_without_it_is_named_with_what_to_do(self, monkeypatch, capsys, python, reason):
        monkeypatch.setenv(VARIABLE, python)
        with pytest.raises(BuildError, match=reason) as caught:
            find_reference_model()
        assert "pip install tosa-tools" in caught.value.hint
        run_command_line(["doctor"])
        assert "TOSA model" in capsys.readouterr().out

    @pytest.mark.parametrize("name", NAMES)
    def test_the_real_one_says_the_same_as_it_did(self, name):
        if not os.environ.get(VARIABLE):
            pytest.skip(f"{VARIABLE} names no Python that has tosa-tools")
        inputs, outputs = samples(name)
        graph = (GRAPHS / f"{name}.tosa").read_bytes()
        assert list(tosa_outputs(find_reference_model(), name, graph, inputs)) == outputs


def _ask(name: str):
    model = compiled(name)
    return reference_outputs(model, standard_inputs(model))
