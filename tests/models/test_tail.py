"""Cutting the softmax off shows what it hides."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.models.catalog import ModelKind, ModelSource, load_model
from harness.models.inputs import seeded_inputs
from harness.models.oracle import installed_version, tflite_micro_outputs
from harness.models.tail import cut_before_softmax
from harness.models.tflite_file import read_tflite
from harness.models.tflite_writer import GraphSpec, OperatorSpec, TensorSpec, write_tflite
from harness.models.vela import compile_model

needs_oracle = pytest.mark.skipif(installed_version() is None, reason="tflite-micro is not installed")

RecordProperty = Callable[[str, object], None]

WITH_SOFTMAX = ["pretrainedResnet_quant", "kws_ref_model", "vww_96_int8"]


@pytest.mark.parametrize("name", ["resnet8", "ds_cnn", "mobilenet_v1_025"])
def test_the_softmaxs_input_becomes_the_output(name: str) -> None:
    data = load_model(name).data
    before, after = read_tflite(name, data), read_tflite(name, cut_before_softmax(name, data))
    assert before.operators[-1].name == "SOFTMAX"
    assert after.operators == before.operators[:-1]
    assert after.outputs == before.operators[-1].inputs


@pytest.mark.parametrize("name", ["deep_autoencoder"])
def test_a_network_without_a_softmax_stays_as_it_is(name: str) -> None:
    data = load_model(name).data
    assert cut_before_softmax(name, data) == data


def test_the_cut_network_compiles_without_the_softmax(private_cache: Path) -> None:
    source = load_model("ds_cnn")
    whole = compile_model(source)
    cut = compile_model(ModelSource("cut", cut_before_softmax("ds_cnn", source.data), ModelKind.TFLITE))
    assert len(cut.command_stream) < len(whole.command_stream) / 2
    assert [output.shape for output in cut.outputs] == [(1, 12)]


@needs_oracle
@pytest.mark.parametrize("file", WITH_SOFTMAX)
def test_a_cut_real_network_tells_more_inputs_apart(
    file: str, real_models: Path, record_property: RecordProperty
) -> None:
    source = load_model(real_models / "mlperf_tiny" / f"{file}.tflite")
    sizes = [tensor.size for tensor in read_tflite(file, source.data).input_tensors]
    samples = [seeded_inputs(sizes, str(index)).tensors for index in range(30)]
    whole = set(tflite_micro_outputs(file, source.data, samples))
    cut = set(tflite_micro_outputs(file, cut_before_softmax(file, source.data), samples))
    record_property("distinct outputs before and after the softmax", (len(cut), len(whole)))
    assert len(cut) > len(whole)


def network(operators: tuple[OperatorSpec, ...], outputs: tuple[int, ...]) -> bytes:
    """Four tensors of one shape, the first of which is the input."""
    tensors = tuple(TensorSpec(f"t{index}", (1, 8), "int8", (Fraction(1, 256),), -128) for index in range(4))
    return write_tflite(GraphSpec("net", tensors, operators, (0,), outputs))


SOFTMAX = OperatorSpec("SOFTMAX", (0,), (1,), {"Beta": 1.0})


def test_what_follows_the_softmax_goes_with_it() -> None:
    after = OperatorSpec("ADD", (1, 1), (2,), {"FusedActivationFunction": 0})
    before = OperatorSpec("ADD", (0, 0), (3,), {"FusedActivationFunction": 0})
    softmax = OperatorSpec("SOFTMAX", (3,), (1,), {"Beta": 1.0})
    graph = read_tflite("net", cut_before_softmax("net", network((before, softmax, after), (2,))))
    assert [operator.name for operator in graph.operators] == ["ADD"]
    assert graph.outputs == (3,)


def test_an_independent_operator_after_the_softmax_prevents_the_cut() -> None:
    aside = OperatorSpec("ADD", (0, 0), (2,), {"FusedActivationFunction": 0})
    with pytest.raises(ModelError, match="ADD after the softmax does not depend on it"):
        cut_before_softmax("net", network((SOFTMAX, aside), (2,)))


def test_a_second_output_prevents_the_cut() -> None:
    with pytest.raises(ModelError, match="outputs that do not come from its softmax"):
        cut_before_softmax("net", network((SOFTMAX,), (1, 0)))
