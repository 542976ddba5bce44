"""Words become commands; what is no command, or a jump to nowhere, is named with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.faults import FaultKind, NpuFault
from harness.sim.npu.opcodes import CMD0, CMD1
from harness.sim.npu.program import prepare
from harness.sim.npu.stream import is_conditional, trace

STOP = 0xFFFF0000


def words(*values):
    return b"".join(value.to_bytes(4, "little") for value in values)


def decoded(*values):
    return list(trace(words(*values)))


@pytest.mark.parametrize(
    ("code", "name", "fields"),
    [
        ([STOP], "OP_STOP", {"mask": 0xFFFF}),
        ([0x00050005], "OP_POOL", {"mode": 5}),
        ([0x002A0006], "OP_ELEMENTWISE", {"mode": 42}),
        ([0x00030011], "OP_DMA_WAIT", {"outstanding": 3}),
        ([0xFF800109], "IFM_ZERO_POINT", {"value": 0xFF80}),
        ([0x80450105], "IFM_PRECISION", {"signed": 1, "precision": 1, "format": 1, "storage": 2}),
        (
            [0x8B450114],
            "OFM_PRECISION",
            {
                "signed": 1,
                "precision": 2,
                "format": 1,
                "scale_mode": 1,
                "reverse": 1,
                "transpose": 1,
                "storage": 2,
            },
        ),
        ([0x03100124], "ACC_FORMAT", {"format": 0, "input": 1, "output": 0, "microblock": 3}),
        ([0x00124000, 0x34567890], "IFM_BASE0", {"value": 0x1234567890}),
        (
            [0x20264024, 0x40000000],
            "OFM_SCALE",
            {"shift": 38, "double_round": 0, "rounding": 1, "scale": 1 << 30},
        ),
        ([0x050D4025, 0x00000001], "IFM_SCALE", {"shift": 13, "double_round": 20, "rounding": 0, "scale": 1}),
        ([0x00004027, 0xFFFFFFFF], "OP_SCALAR", {"value": 0xFFFFFFFF}),
    ],
)
def test_word_is_taken_apart(code, name, fields):
    command = decoded(*code, STOP)[0]
    assert (command.name, command.fields) == (name, fields)


def test_operations_are_told_from_registers():
    acting = {encoding.name for encoding in (*CMD0.values(), *CMD1.values()) if encoding.acts}
    assert acting == {
        "OP_STOP",
        "OP_IRQ",
        "OP_CONV",
        "OP_DEPTHWISE",
        "OP_POOL",
        "OP_ELEMENTWISE",
        "OP_RESIZE",
        "OP_DMA_START",
        "OP_DMA_WAIT",
        "OP_KERNEL_WAIT",
        "OP_PMU_MASK",
        "OP_BRANCH",
    }


def test_no_two_opcodes_share_a_name_and_no_two_fields_a_bit():
    encodings = [*CMD0.values(), *CMD1.values()]
    assert len({encoding.name for encoding in encodings}) == len(encodings)
    for encoding in encodings:
        assert sum(field.width for field in encoding.fields.values()) == encoding.mask.bit_count(), (
            encoding.name
        )


def test_offsets_count_bytes_and_payloads():
    commands = decoded(0x01000109, 0x00004000, 16, STOP)
    assert [command.offset for command in commands] == [0, 4, 12]


@pytest.mark.parametrize(
    ("code", "offset", "opcode", "detail"),
    [
        ([STOP & 0xFFFF | 4], 0, "word 0x00000004", "no such command"),
        ([0x01000109, 0x00008000, STOP], 4, "word 0x00008000", "control 2"),
        ([0x00100100 | 1 << 24, STOP], 0, "word 0x01100100", "IFM_PAD_TOP has reserved bits set"),
        ([0x00000500, STOP], 0, "word 0x00000500", "reserved bits"),
        ([0x00004000], 0, "word 0x00004000", "cut off"),
        ([0x01000109], 4, "end of stream", "without OP_STOP"),
        ([], 0, "end of stream", "without OP_STOP"),
    ],
)
def test_bad_word_is_a_parse_fault_that_names_its_place(code, offset, opcode, detail):
    fault = decoded(*code)[-1]
    assert isinstance(fault, NpuFault)
    assert (fault.kind, fault.offset, fault.opcode) == (FaultKind.PARSE, offset, opcode)
    assert detail in fault.detail


def test_nothing_after_stop_is_looked_at():
    assert [command.name for command in decoded(STOP, 0x3FF)] == ["OP_STOP"]


def test_jump_leaves_out_what_it_jumps_over():
    commands = decoded(0x00004100, 12, 0x3FF, STOP)
    assert [command.name for command in commands] == ["OP_BRANCH", "OP_STOP"]


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ([0x00004100, 10, STOP], "is not a command of this stream"),
        ([0x00004100, 400, STOP], "is not a command of this stream"),
        ([0x00004100, 0, STOP], "would never end"),
        ([0x00014100, 400, STOP], "is not a command of this stream"),
    ],
)
def test_jump_that_cannot_be_followed_is_a_branch_fault(code, detail):
    fault = decoded(*code)[-1]
    assert fault.kind is FaultKind.BRANCH
    assert detail in fault.detail


@given(st.binary(max_size=256))
def test_any_bytes_end_in_stop_or_a_fault(data):
    *_, last = trace(data)
    assert isinstance(last, NpuFault) or last.name == "OP_STOP" or is_conditional(last)


def test_operation_that_is_not_modelled_is_named(stream):
    fault = prepare(stream(("OP_PMU_MASK", {"enable": 1})), NpuConfig(256)).fault
    assert str(fault) == "parse fault at stream offset 0x0, OP_PMU_MASK: OP_PMU_MASK is not modelled"


@pytest.mark.parametrize("name", ["OP_RESIZE", "OP_ELEMENTWISE"])
def test_mode_that_is_undefined_is_named(stream, name):
    fault = prepare(stream((name, {"mode": 3 if name == "OP_RESIZE" else 63})), NpuConfig(256)).fault
    assert "undefined value" in fault.detail


def test_operation_without_its_registers_is_a_fault(stream):
    fault = prepare(stream(("OP_CONV", {})), NpuConfig(256)).fault
    assert "never set" in fault.detail


def test_masks_of_irq_and_stop_add_up(command):
    program = prepare(command("OP_IRQ", mask=0x21) + command("OP_STOP", mask=0x40), NpuConfig(256))
    assert (program.interrupt_mask, program.end) == (0x61, 8)
