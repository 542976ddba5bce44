"""Reference outputs come from tflite-micro, from stored digests, or not at all; a wrong byte is seen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from harness.errors import ModelError
from harness.models import digests, oracle, reference, tflite_writer
from harness.models.catalog import REFERENCE_NETWORKS, ModelSource, load_model
from harness.models.compiled import CompiledModel
from harness.models.inputs import InputSet, seeded_inputs, standard_inputs
from harness.models.oracle import installed_version, tflite_micro_outputs
from harness.models.reference import reference_outputs
from harness.models.tflite_writer import GraphSpec, OperatorSpec, TensorSpec, write_tflite
from harness.models.vela import VelaCompiler, compile_model

needs_oracle = pytest.mark.skipif(installed_version() is None, reason="tflite-micro is not installed")


@pytest.fixture
def compiled(adder: ModelSource, adder_vela: VelaCompiler, private_cache: Path) -> CompiledModel:
    """The small network, ready to run."""
    return compile_model(adder, compiler=adder_vela)


@pytest.fixture
def no_tflite_micro(monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform without tflite-micro."""
    monkeypatch.setattr(reference, "installed_version", lambda: None)


def test_there_are_two_standard_inputs(compiled: CompiledModel) -> None:
    first, second = standard_inputs(compiled)
    assert (first.label, second.label) == ("A", "B")
    assert first.tensors != second.tensors


def test_standard_inputs_fit_the_network(compiled: CompiledModel) -> None:
    for chosen in standard_inputs(compiled):
        assert [len(values) for values in chosen.tensors] == [8, 8]


def test_two_inputs_of_one_network_differ(compiled: CompiledModel) -> None:
    left, right = standard_inputs(compiled)[0].tensors
    assert left != right


def test_standard_inputs_are_the_same_for_a_precompiled_network(compiled: CompiledModel) -> None:
    opened = replace(
        compiled, name="other", inputs=tuple(replace(each, name="x") for each in compiled.inputs)
    )
    assert standard_inputs(opened) == standard_inputs(compiled)


def test_standard_inputs_never_change() -> None:
    (values,) = seeded_inputs([16], "A").tensors
    assert values == hashlib.shake_256(b"input 0 of set A").digest(16)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_inputs_cover_the_range_of_their_type(dtype: str) -> None:
    (data,) = seeded_inputs([1 << 20], "A").tensors
    values = np.frombuffer(data, dtype)
    limits = np.iinfo(dtype)
    assert (values.min(), values.max()) == (limits.min, limits.max)


@needs_oracle
def test_the_oracle_computes_the_network(compiled: CompiledModel) -> None:
    # Scales are equal and zero points 3: the sum is left + right - 3, saturated.
    left, right = bytes([3, 10, 127, 128, 0, 1, 2, 255]), bytes([3, 20, 127, 128, 0, 1, 2, 255])
    result = reference_outputs(compiled, [InputSet("given", (left, right))])
    assert result.oracle == f"tflite-micro {installed_version()}"
    assert result.outputs is not None
    (output,) = result.outputs[0]
    assert np.frombuffer(output, np.int8).tolist() == [3, 27, 127, -128, -3, -1, 1, -5]


@needs_oracle
def test_a_digest_goes_with_every_output(compiled: CompiledModel) -> None:
    result = reference_outputs(compiled, standard_inputs(compiled))
    assert result.outputs is not None
    assert result.digests == tuple(
        tuple(hashlib.sha256(output).hexdigest() for output in outputs) for outputs in result.outputs
    )


@needs_oracle
def test_one_flipped_byte_of_an_output_changes_its_digest(compiled: CompiledModel) -> None:
    result = reference_outputs(compiled, standard_inputs(compiled))
    assert result.outputs is not None
    assert result.digests is not None
    wrong = bytearray(result.outputs[0][0])
    wrong[3] ^= 1
    assert hashlib.sha256(wrong).hexdigest() != result.digests[0][0]


@needs_oracle
def test_one_flipped_weight_changes_the_reference(private_cache: Path) -> None:
    source = load_model("deep_autoencoder")
    compiled = compile_model(source)
    inputs = standard_inputs(compiled)
    graph = digests.NETWORKS["deep_autoencoder"].build()
    weights = graph.tensors[graph.operators[0].inputs[1]].data
    assert weights is not None
    flipped = source.data.replace(weights, bytes([weights[0] ^ 0x40]) + weights[1:])
    changed = replace(compiled, tflite=flipped)
    assert reference_outputs(changed, inputs).digests != reference_outputs(compiled, inputs).digests


@needs_oracle
def test_a_known_answer_does_not_start_the_oracle(
    compiled: CompiledModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inputs = standard_inputs(compiled)
    first = reference_outputs(compiled, inputs)
    monkeypatch.setattr(oracle, "_WORKER", tmp_path / "absent.py")
    assert reference_outputs(compiled, inputs) == first


@needs_oracle
def test_other_inputs_are_another_answer(compiled: CompiledModel) -> None:
    first, second = (reference_outputs(compiled, [each]).outputs for each in standard_inputs(compiled))
    assert first != second


def test_a_precompiled_network_is_not_compared(compiled: CompiledModel) -> None:
    result = reference_outputs(replace(compiled, tflite=None), standard_inputs(compiled))
    assert (result.oracle, result.digests) == ("not compared", None)
    assert "precompiled" in result.reason


@pytest.mark.usefixtures("no_tflite_micro")
@pytest.mark.parametrize("name", REFERENCE_NETWORKS)
def test_without_tflite_micro_the_stored_digests_are_the_oracle(name: str) -> None:
    compiled = compile_model(load_model(name))
    result = reference_outputs(compiled, standard_inputs(compiled))
    assert result.oracle == "stored digests of tflite-micro"
    assert result.digests is not None
    assert [len(outputs) for outputs in result.digests] == [1, 1]


@pytest.mark.usefixtures("no_tflite_micro")
def test_without_tflite_micro_another_network_is_not_compared(compiled: CompiledModel) -> None:
    result = reference_outputs(compiled, standard_inputs(compiled))
    assert (result.oracle, result.digests) == ("not compared", None)
    assert "tflite-micro is not installed" in result.reason


@pytest.mark.usefixtures("no_tflite_micro")
def test_without_tflite_micro_other_inputs_are_not_compared() -> None:
    compiled = compile_model(load_model("ds_cnn"))
    other = seeded_inputs([tensor.size for tensor in compiled.inputs], "C")
    assert reference_outputs(compiled, [standard_inputs(compiled)[0], other]).digests is None


@needs_oracle
def test_the_stored_digests_are_what_tflite_micro_computes() -> None:
    assert digests.compute_digests() == reference.stored_digests()


def test_digests_are_stored_for_every_reference_network() -> None:
    stored = reference.stored_digests()
    assert set(stored) == {network.sha256 for network in digests.NETWORKS.values()}


FakeWorker = Callable[[str], None]


@pytest.fixture
def fake_worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, private_cache: Path) -> FakeWorker:
    """A function that puts a Python program in the worker's place."""

    def replace_worker(program: str) -> None:
        path = tmp_path / "worker.py"
        path.write_text(program)
        monkeypatch.setattr(oracle, "_WORKER", path)

    return replace_worker


def test_a_crash_of_the_oracle_is_an_error(adder: ModelSource, fake_worker: FakeWorker) -> None:
    fake_worker("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(ModelError, match="tflite-micro crashed on addition: it was killed by SIGSEGV"):
        tflite_micro_outputs("addition", adder.data, [(bytes(8), bytes(8))])


def test_a_failure_of_the_oracle_shows_its_last_words(adder: ModelSource, fake_worker: FakeWorker) -> None:
    fake_worker("raise SystemExit('out of ideas')")
    with pytest.raises(ModelError, match="tflite-micro failed on addition") as caught:
        tflite_micro_outputs("addition", adder.data, [(bytes(8), bytes(8))])
    assert caught.value.evidence == ("out of ideas",)


def test_an_oracle_that_hangs_is_ended(
    adder: ModelSource, fake_worker: FakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_worker("import time; time.sleep(60)")
    monkeypatch.setattr(oracle, "TIMEOUT_S", 0.5)
    with pytest.raises(ModelError, match="tflite-micro did not finish addition"):
        tflite_micro_outputs("addition", adder.data, [(bytes(8), bytes(8))])


@needs_oracle
def test_an_operator_the_oracle_lacks_is_not_compared(
    compiled: CompiledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tflite_writer.OPERATORS, "TOPK_V2", ("TopKV2Options", 1))
    tensors = tuple(TensorSpec(name, (1, 8), "int8", (Fraction(1),)) for name in ("x", "k", "y"))
    exotic = GraphSpec("exotic", tensors, (OperatorSpec("TOPK_V2", (0, 1), (2,)),), (0, 1), (2,))
    result = reference_outputs(replace(compiled, tflite=write_tflite(exotic)), standard_inputs(compiled))
    assert result.oracle == "not compared"
    assert (
        "tflite-micro lacks an operator of addition: Didn't find op for builtin opcode 'TOPK_V2'"
        in result.reason
    )


def test_inputs_of_another_size_are_refused(adder: ModelSource) -> None:
    with pytest.raises(ModelError, match=r"addition takes inputs of \[8, 8\] bytes, not of \[8, 7\]"):
        tflite_micro_outputs("addition", adder.data, [(bytes(8), bytes(7))])


def test_no_inputs_have_no_outputs(adder: ModelSource) -> None:
    assert tflite_micro_outputs("addition", adder.data, []) == ()
