"""What the compiler makes of variables: their places, and what they start from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.models.catalog import ModelSource, load_model
from harness.models.compiled import SCRATCH_REGION
from harness.models.vela import CompileOptions, compile_model
from harness.npu_tools.layers import compile_with_layers
from harness.processes import run_tool

from .networks import HIDDEN_ZERO_POINT, SHAPE


@pytest.fixture
def vela_file(networks, tmp_path):
    """A function that has Vela itself compile the LSTM."""

    def run(output: str, *options: str) -> Path:
        (tmp_path / "recurrent.tflite").write_bytes(networks["lstm"].data)
        command = [sys.executable, "-m", "ethosu.vela", "recurrent.tflite", "--output-dir=."]
        command += ["--accelerator-config=ethos-u85-256", "--config=Arm/vela.ini"]
        command += ["--system-config=Ethos_U85_SYS_DRAM_Mid", "--memory-mode=Sram_Only"]
        command += [f"--output-format={output}", *options]
        assert run_tool(command, timeout_seconds=60, cwd=tmp_path).status == 0
        return tmp_path / f"recurrent_vela.{'npz' if output == 'raw' else 'tflite'}"

    return run


def test_the_state_of_a_recurrent_layer_starts_from_zero_points(recurrent):
    found = {each.name: (each.shape, each.dtype, each.initial) for each in recurrent.variables}
    assert found == {
        "hidden": ((1, 8), "int8", bytes([HIDDEN_ZERO_POINT]) * 8),
        "cell": ((1, 8), "int16", bytes(16)),
    }


def test_each_resource_starts_from_its_own_zero_point(adding):
    found = {each.name.partition(":")[2]: (each.shape, each.initial) for each in adding.variables}
    assert found == {"sum0": (SHAPE, b"\x05" * 128), "sum1": (SHAPE, b"\xf9" * 128)}


def test_everything_lies_in_scratch_memory(network):
    tensors = (*network.inputs, *network.outputs, *network.variables)
    assert {tensor.region for tensor in tensors} == {SCRATCH_REGION}
    assert max(tensor.offset + tensor.size for tensor in tensors) <= network.scratch_size


def test_no_two_variables_share_a_byte(network):
    ends = [variable.offset + variable.size for variable in network.variables]
    starts = [variable.offset for variable in network.variables]
    assert len(starts) == 2
    assert all(end <= start for end, start in zip(ends[:-1], starts[1:], strict=True))


def test_a_network_without_variables_is_compiled_for_direct_drive():
    compiled = compile_model(load_model("ds_cnn"))
    assert (compiled.variables, compiled.io_is_in_scratch) == ((), False)


def test_what_vela_wrote_earlier_has_the_same_variables(vela_file, recurrent):
    opened = compile_model(load_model(vela_file("tflite", "--cop-format=COP2")))
    assert opened.variables == recurrent.variables
    assert opened.stream_sha256 == recurrent.stream_sha256


def test_variables_among_inputs_and_outputs_are_refused(vela_file):
    separate = load_model(vela_file("tflite", "--cop-format=COP2", "--separate-io-regions"))
    with pytest.raises(ModelError, match=r"recurrent_vela keeps variables .* outside its scratch memory"):
        compile_model(separate)


def test_raw_output_is_refused_as_it_has_no_initial_values(vela_file):
    with pytest.raises(ModelError, match="raw output does not say what they start from") as caught:
        compile_model(load_model(vela_file("raw")))
    assert "the .tflite file it was compiled from" in caught.value.hint


def test_an_operator_left_on_the_cpu_is_named(networks):
    options = CompileOptions(extra=("--ignore-ops=ADD",))
    with pytest.raises(ModelError, match="beside one ethos-u operator it has ADD"):
        compile_model(networks["accumulator"], options)


def test_a_damaged_output_of_vela_is_no_crash(networks):
    half = ModelSource("half", networks["lstm"].data[:1500], networks["lstm"].kind)
    with pytest.raises(ModelError, match="half is a damaged"):
        compile_model(half)


def test_operations_come_from_named_layers(networks):
    named = compile_with_layers(networks["accumulator"], CompileOptions())
    assert {layer.operator for layer in named.layers.values()} >= {"ADD", "ASSIGN_VARIABLE"}
