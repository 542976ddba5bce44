"""What is read from a .tflite file is what was written; what is damaged is refused."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from harness.errors import ModelError
from harness.models.catalog import ModelSource
from harness.models.compiled import Quantization
from harness.models.tflite_file import FileOperator, read_signature, read_tflite
from harness.models.tflite_writer import GraphSpec, TensorSpec, write_tflite


def test_tensors_come_back_as_written(adder: ModelSource) -> None:
    left = read_tflite("addition", adder.data).tensors[0]
    assert (left.name, left.shape, left.dtype, left.size) == ("left", (1, 8), "int8", 8)
    assert left.quantization == Quantization(scale=1 / 16, zero_point=3)
    assert left.data is None


def test_operators_come_back_as_written(adder: ModelSource) -> None:
    assert read_tflite("addition", adder.data).operators == (FileOperator("ADD", (0, 1), (2,)),)


def test_inputs_and_outputs_come_back_in_order(adder: ModelSource) -> None:
    graph = read_tflite("addition", adder.data)
    assert [tensor.name for tensor in graph.input_tensors] == ["left", "right"]
    assert [tensor.name for tensor in graph.output_tensors] == ["sum"]


def test_a_constant_comes_back_byte_for_byte() -> None:
    data = bytes(range(7)) + b"\0"
    constant = TensorSpec("constant", (2,), "int32", data=data)
    graph = GraphSpec("constant", (constant,), (), (), ())
    assert read_tflite("constant", write_tflite(graph)).tensors[0].data == data


def test_scales_per_channel_are_not_one_quantisation() -> None:
    weights = TensorSpec("weights", (2, 1), "int8", (Fraction(1, 2), Fraction(1, 4)), data=b"\1\2")
    graph = GraphSpec("weights", (weights,), (), (), ())
    assert read_tflite("weights", write_tflite(graph)).tensors[0].quantization is None


def test_a_signature_is_put_in_words(adder: ModelSource) -> None:
    signature = read_signature(adder.data)
    assert (signature.inputs, signature.outputs) == ("int8 1x8, int8 1x8", "int8 1x8")


def test_a_file_without_the_identifier_is_refused() -> None:
    with pytest.raises(ModelError, match=r"nonsense is not a \.tflite file"):
        read_tflite("nonsense", b"no such thing")


@pytest.mark.parametrize("length", [8, 20, 100, 400])
def test_a_truncated_file_is_refused(adder: ModelSource, length: int) -> None:
    with pytest.raises(ModelError, match=r"addition is a damaged \.tflite file"):
        read_tflite("addition", adder.data[:length])


def test_no_damaged_byte_escapes_as_another_error(adder: ModelSource) -> None:
    refused = 0
    chooser = random.Random(1)
    for position in range(8, len(adder.data)):
        damaged = bytearray(adder.data)
        damaged[position] ^= chooser.randrange(1, 256)
        try:
            read_tflite("damaged", bytes(damaged))
        except ModelError:
            refused += 1
    assert refused > 0


def test_a_scale_that_float32_cannot_hold_is_refused() -> None:
    tensor = TensorSpec("fine", (1,), "int8", (Fraction(1, 3),))
    with pytest.raises(ValueError, match="no float32"):
        write_tflite(GraphSpec("fine", (tensor,), (), (), ()))
