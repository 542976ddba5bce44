"""ExecuTorch's .pte: what its Ethos-U delegate carries runs on the NPU; anything else is refused by name."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cli.command_line import run_command_line
from harness.errors import ModelError
from harness.models.catalog import load_model
from harness.models.inputs import standard_inputs
from harness.models.oracle import tflite_micro_outputs
from harness.models.vela import CompileOptions, compile_model
from harness.models.vela_raw import read_raw
from harness.npu_tools.inference import infer
from harness.sim.npu.cycles import VelaProfile

_SPEC = importlib.util.spec_from_file_location("pte_writer", Path(__file__).with_name("pte_writer.py"))
pte_writer = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(pte_writer)
VARIABLE = "HARNESS_TEST_PTE"
MEMORY = VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """ds_cnn as ExecuTorch has Vela compile: in the COP1 format, its inputs and outputs in scratch."""
    folder = tmp_path_factory.mktemp("vela")
    tflite = folder / "ds_cnn.tflite"
    tflite.write_bytes(load_model("ds_cnn").data)
    options = ["--accelerator-config=ethos-u85-256", "--output-format=raw", f"--output-dir={folder}"]
    memory = ["--config=Arm/vela.ini", "--system-config=Ethos_U85_SYS_DRAM_Mid", "--memory-mode=Sram_Only"]
    subprocess.run(
        [sys.executable, "-P", "-m", "ethosu.vela", str(tflite), *options, *memory],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return read_raw("ds_cnn", (folder / "ds_cnn_vela.npz").read_bytes())


@pytest.fixture
def opened(network, tmp_path):
    """A function that writes a .pte and opens it."""

    def open_pte(macs: int | None = None, **changes):
        path = tmp_path / "net.pte"
        path.write_bytes(pte_writer.write_pte(network, **changes))
        return compile_model(load_model(path), CompileOptions(macs))

    return open_pte


def test_it_computes_what_tflite_micro_does(opened):
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    compiled = opened()
    inputs = standard_inputs(compiled)[0].tensors
    (expected,) = tflite_micro_outputs("ds_cnn", load_model("ds_cnn").data, [inputs])
    assert infer(compiled, inputs, MEMORY).outputs == expected
    assert (compiled.macs, [tensor.region for tensor in compiled.inputs]) == (256, [1])


def test_another_mac_count_is_refused(opened):
    with pytest.raises(ModelError, match="compiled for 256 MACs and cannot run on 512"):
        opened(macs=512)


def test_an_operator_beside_the_delegate_is_named(opened):
    with pytest.raises(ModelError, match=r"beside its delegate it has aten::softmax\.out"):
        opened(kernels=("aten::softmax",))


def test_methods_that_return_a_constant_are_passed_over(network, opened):
    assert opened(constants=("get_input0_scales", "get_input0_zp")).command_stream == network.command_stream


@pytest.mark.parametrize("methods", [(), ("forward", "encode")])
def test_there_is_one_method_that_computes(opened, methods):
    with pytest.raises(ModelError, match=f"has {len(methods)} computing methods; .* exactly one"):
        opened(methods=methods, constants=("get_input0_zp",))


def test_another_delegate_is_named(opened):
    with pytest.raises(ModelError, match="for the delegate 'XnnpackBackend'; allowed: EthosUBackend"):
        opened(delegate="XnnpackBackend")


def test_an_external_block_is_named(network, opened):
    stream = pte_writer.vela_bin_stream(network)
    plain, external = (pte_writer.block("weight_data", network.weights, flag) for flag in (0, 1))
    with pytest.raises(ModelError, match="its block weight_data is stored outside the delegate"):
        opened(data=stream.replace(plain, external))


@pytest.mark.parametrize("block", ["persistent_size", "persistent_init"])
def test_state_of_unknown_layout_is_refused(network, opened, block):
    stream = pte_writer.vela_bin_stream(network)
    plain = pte_writer.block("weight_data", network.weights)
    with pytest.raises(ModelError, match=f"keeps state between inferences in its block {block}"):
        opened(data=stream.replace(plain, plain + pte_writer.block(block, bytes(4))))


@pytest.mark.parametrize("missing", ["cmd_data", "scratch_size", "outputs"])
def test_a_missing_block_is_named(network, opened, missing):
    stream = pte_writer.vela_bin_stream(network)
    start = stream.index(missing.encode())
    size = int.from_bytes(stream[start + 16 : start + 20], "little")
    without = stream[:start] + stream[start + 32 + -(-size // 16) * 16 :]
    with pytest.raises(ModelError, match=f"has no block {missing}"):
        opened(data=without)


@pytest.mark.parametrize("scratch", ["buffer", "temp"])
def test_it_is_compared_in_all_modes_as_any_model(network, tmp_path, scratch):
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    path, report = tmp_path / "net.pte", tmp_path / "result.json"
    path.write_bytes(pte_writer.write_pte(network))
    options = ["--modes", "all", "--scratch", scratch, "--npu-checks", "--json", str(report)]
    assert run_command_line(["compare", str(path), *options]) == 0
    (model,) = json.loads(report.read_text())["models"]
    reference = model["comparison"]["reference"]
    assert (reference["oracle"], reference["equal"]) == ("not compared", None)
    sets = standard_inputs(compile_model(load_model(path), CompileOptions()))
    expected = tflite_micro_outputs("ds_cnn", load_model("ds_cnn").data, [each.tensors for each in sets])
    digests = {each.label: sha256(one[0]).hexdigest() for each, one in zip(sets, expected, strict=True)}
    for inference in (each for mode in model["modes"] for each in mode["inferences"]):
        assert inference["outputs"][0]["sha256"] == digests[inference["input"]]


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_the_same_network_or_refused(network, tmp_path_factory, data):
    small = replace(network, weights=bytes(16))
    content = bytearray(pte_writer.write_pte(small))
    headers = len(content) - len(pte_writer.vela_bin_stream(small))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(8, headers + 64))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.pte"
    path.write_bytes(content)
    try:
        compiled = compile_model(load_model(path), CompileOptions())
    except ModelError:
        return
    assert compiled.macs == 256


def test_a_real_program_runs():
    if not os.environ.get(VARIABLE):
        pytest.skip(f"{VARIABLE} names no .pte file")
    compiled = compile_model(load_model(os.environ[VARIABLE]), CompileOptions())
    outputs = infer(compiled, standard_inputs(compiled)[0].tensors, MEMORY).outputs
    assert [len(output) for output in outputs] == [tensor.size for tensor in compiled.outputs]
    assert np.frombuffer(outputs[0], np.uint8).size
