"""Command streams in words."""

from __future__ import annotations

import pytest

from harness.errors import ModelError
from harness.models.catalog import REFERENCE_NETWORKS
from harness.npu_tools.disassembly import UNDEFINED, by_operation, disassemble
from harness.sim.npu import NpuConfig, parse_payload
from harness.sim.npu.opcodes import CMD0
from harness.sim.npu.program import prepare
from harness.sim.npu.stream import trace

OPCODES = {encoding.name: opcode for opcode, encoding in CMD0.items()}


def word(name: str, parameter: int = 0) -> bytes:
    return (OPCODES[name] | parameter << 16).to_bytes(4, "little")


def text(stream: bytes) -> list[str]:
    return [str(instruction) for instruction in disassemble("test", stream)]


@pytest.mark.parametrize("mode", ["Sram_Only", "Dedicated_Sram"])
@pytest.mark.parametrize("network", REFERENCE_NETWORKS)
def test_every_word_of_the_reference_networks_has_a_meaning(named, network, mode):
    stream = parse_payload(named(network, mode).compiled.command_stream).stream
    instructions = list(disassemble(network, stream))
    commands = list(trace(stream))
    assert [instruction.name for instruction in instructions] == [command.name for command in commands]
    assert instructions[-1].offset == len(stream) - 4
    assert not [str(instruction) for instruction in instructions if UNDEFINED in str(instruction)]


def test_an_enumeration_is_shown_by_name():
    assert text(word("OP_POOL", 5)) == ["0x00000  OP_POOL              mode=MIN"]


def test_a_value_that_an_enumeration_lacks_is_marked():
    assert text(word("OP_ELEMENTWISE", 63)) == [f"0x00000  OP_ELEMENTWISE       mode={UNDEFINED}63"]
    assert f"microblock={UNDEFINED}7" in text(word("ACC_FORMAT", 7 << 8))[0]


def test_a_register_that_may_be_signed_shows_both_readings():
    assert text(word("OFM_ZERO_POINT", 0xFF80))[0].endswith("65408 (-128)")
    assert text(word("OFM_ZERO_POINT", 5))[0].endswith(" 5")


def test_a_word_that_is_no_command_is_named_with_its_offset():
    with pytest.raises(
        ModelError, match=r"broken: the word 0x000003ff at stream offset 0x4: no such command"
    ):
        list(disassemble("broken", word("OP_STOP") + bytes.fromhex("ff030000")))


def test_operations_are_those_that_the_model_carries_out(stream):
    program = prepare(stream, NpuConfig(256))
    started = [s.command.offset for s in program.steps if not s.command.name.endswith("_WAIT")]
    parts = list(by_operation(disassemble("ds_cnn", stream)))
    assert [part[-1].offset for part in parts[:-1]] == started
    assert [instruction.name for instruction in parts[-1]] == ["OP_STOP"]
