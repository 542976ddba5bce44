"""Where two compiled models differ first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.npu_tools.difference import FieldChange, compare_models, first_difference, first_different_byte
from harness.npu_tools.disassembly import disassemble
from harness.npu_tools.layers import NamedModel
from harness.sim.npu import parse_payload


def changed(model: NamedModel, offset: int, flip: int) -> NamedModel:
    """The model with bits flipped in the 32-bit word at a stream offset."""
    payload = bytearray(model.compiled.command_stream)
    at = len(payload) - len(parse_payload(bytes(payload)).stream) + offset
    word = int.from_bytes(payload[at : at + 4], "little") ^ flip
    payload[at : at + 4] = word.to_bytes(4, "little")
    return NamedModel(replace(model.compiled, command_stream=bytes(payload)), model.layers)


@pytest.fixture
def model(named):
    return named("ds_cnn")


@pytest.fixture
def instructions(stream):
    return list(disassemble("ds_cnn", stream))


def test_a_model_equals_itself(model):
    comparison = compare_models(model.compiled, model.compiled)
    assert comparison.equal
    assert list(comparison.lines(model.layers)) == ["the command streams are equal", "the weights are equal"]


def test_a_single_changed_field_is_found_with_what_stands_before_it(model, instructions):
    pads = [i for i, instruction in enumerate(instructions) if instruction.name == "IFM_PAD_TOP"]
    position = pads[1]
    offset = instructions[position].offset
    other = changed(model, offset, flip=2 << 16)
    difference = compare_models(model.compiled, other.compiled).stream
    before = int(instructions[position].fields[0][1])
    assert difference.fields == (FieldChange("value", str(before), str(before ^ 2)),)
    assert difference.left.offset == offset
    assert difference.before == tuple(instructions[position - 4 : position])


def test_the_operation_that_a_difference_has_a_part_in_is_named(model, instructions):
    operations = [instruction for instruction in instructions if instruction.operation]
    inside = next(i for i in instructions if i.offset > operations[1].offset and i.name == "OFM_BASE0")
    comparison = compare_models(model.compiled, changed(model, inside.offset + 4, flip=16).compiled)
    first, *_ = comparison.lines(model.layers)
    assert first == f"the command streams differ before CONV: {model.layers[operations[2].offset]}"
    assert not comparison.equal


def test_another_command_has_no_fields_to_compare(instructions):
    difference = first_difference(instructions[:3], [*instructions[:2], instructions[5]])
    assert (difference.left, difference.right) == (instructions[2], instructions[5])
    assert difference.fields == ()


def test_a_stream_that_ends_early_differs_where_it_ends(instructions):
    difference = first_difference(instructions[:7], instructions[:6])
    assert difference.left == instructions[6]
    assert difference.right is None


def test_weights_are_compared_where_the_streams_are_equal(model):
    weights = bytearray(model.compiled.weights)
    weights[100] ^= 1
    comparison = compare_models(model.compiled, replace(model.compiled, weights=bytes(weights)))
    assert comparison.stream is None
    assert not comparison.equal
    assert any("weights differ from byte 0x64" in line for line in comparison.lines(model.layers))


def test_blobs_differ_where_the_shorter_one_ends():
    assert first_different_byte(b"abc", b"abc") is None
    assert first_different_byte(b"abc", b"ab") == 2
    assert first_different_byte(b"abc", b"xbc") == 0


def test_models_for_other_mac_counts_are_not_equal(model):
    comparison = compare_models(model.compiled, replace(model.compiled, macs=512))
    assert not comparison.equal
    assert next(comparison.lines({})) == "made for different NPUs: 256 and 512 MACs"
