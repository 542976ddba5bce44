"""Each check finds the defect that is meant for it, and no other check does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.sim.npu.checks import CheckFinding, Region, Role, extents
from harness.sim.npu.program import prepare

from .conftest import Checked

NETWORK = "ds_cnn"
SHARED = "Shared_Sram"  #: weights lie in slow memory, and transfers fetch them while operations run
ROOM = 4096


@pytest.fixture
def pool(checked, stream):
    """One MAX pooling of 2 x 2 windows, from the start of the scratch to its second half."""
    steps = {
        "IFM_REGION": 1, "IFM_BASE0": 0, "IFM_STRIDE_Y": 128, "IFM_STRIDE_X": 16, "IFM_STRIDE_C": 1,
        "IFM_WIDTH0_M1": 7, "IFM_HEIGHT0_M1": 7, "IFM_HEIGHT1_M1": 7, "IFM_DEPTH_M1": 15, "IFM_UPSCALE": 0,
        "IFM_ZERO_POINT": 0, "IFM_PAD_TOP": 0, "IFM_PAD_LEFT": 0, "IFM_PAD_RIGHT": 0, "IFM_PAD_BOTTOM": 0,
        "OFM_REGION": 1, "OFM_BASE0": ROOM // 2, "OFM_STRIDE_Y": 64, "OFM_STRIDE_X": 16, "OFM_STRIDE_C": 1,
        "OFM_WIDTH_M1": 3, "OFM_HEIGHT_M1": 3, "OFM_DEPTH_M1": 15, "OFM_WIDTH0_M1": 3, "OFM_HEIGHT0_M1": 3,
        "OFM_HEIGHT1_M1": 3, "OFM_ZERO_POINT": 0, "OFM_BLK_WIDTH_M1": 3, "OFM_BLK_HEIGHT_M1": 3,
        "OFM_BLK_DEPTH_M1": 15, "KERNEL_WIDTH_M1": 1, "KERNEL_HEIGHT_M1": 1,
    }  # fmt: skip
    code = stream(
        *((name, {"value": value}) for name, value in steps.items()),
        ("IFM_PRECISION", {"signed": 1}),
        ("OFM_PRECISION", {"signed": 1, "scale_mode": 1}),
        ("OFM_SCALE", {"scale": 1}),
        ("KERNEL_STRIDE", {"x_low": 1, "y_low": 1}),
        ("ACC_FORMAT", {"microblock": 3}),
        ("ACTIVATION", {}),
        ("ACTIVATION_MIN", {"value": 0}),
        ("ACTIVATION_MAX", {"value": 127}),
        ("OP_POOL", {"mode": 0}),
    )
    scratch = Region(Role.SCRATCH, 0x1000, ROOM, written=((0, ROOM // 4),))
    return replace(checked(NETWORK), stream=code).with_region(1, **vars(scratch))


def only(findings: tuple[CheckFinding, ...]) -> CheckFinding:
    (finding,) = findings
    return finding


@pytest.mark.parametrize("network", ["ds_cnn", "mobilenet_v1_025", "resnet8"])
@pytest.mark.parametrize(
    ("wait", "check"), [("OP_DMA_WAIT", "missing-dma-wait"), ("OP_KERNEL_WAIT", "missing-kernel-wait")]
)
def test_every_wait_that_the_compiler_puts_is_missed(checked, network, wait, check):
    sound = checked(network, memory_mode=SHARED)
    waits = list(sound.commands(wait))
    assert waits
    assert [sound.without(command).kinds() for command in waits] == [{check}] * len(waits)


def test_a_wait_for_too_little_is_missed(checked):
    sound = checked(NETWORK, memory_mode=SHARED)
    first = next(sound.commands("OP_DMA_WAIT"))
    finding = sound.with_fields(first, outstanding=3).report().findings[0]
    assert finding.check == "missing-dma-wait"
    assert "without a wait until at most 0 are outstanding" in finding.detail


def test_a_block_dependency_above_the_compilers_own_is_found(checked):
    """As far as the compiler computed it: above its values lies nothing safe."""
    sound = checked("mobilenet_v1_025")
    found = 0
    for command in sound.commands("BLOCKDEP"):
        if 0 < command.fields["value"] < 7:
            spoilt = sound.with_fields(command, value=command.fields["value"] + 1)
            assert spoilt.kinds() == {"block-dependency"}
            found += 1
    assert found >= 3


def test_a_block_dependency_where_the_compiler_has_no_rule_is_unknown(checked):
    """From a sum over the channels to its broadcast along them."""
    sound = checked(NETWORK)
    spoilt = [sound.with_fields(each, value=7) for each in sound.commands("BLOCKDEP")]
    unknown = [each for one in spoilt for each in one.report().unknown]
    assert unknown
    assert {(str(each.check), each.opcode) for each in unknown} == {("block-dependency", "OP_ELEMENTWISE")}


def test_a_result_on_its_own_operand_is_found(pool):
    assert pool.kinds() == set()
    spoilt = pool.with_register("OFM_BASE0", ROOM // 4 - 32)
    assert spoilt.kinds() == {"overlap"}
    finding = only(spoilt.report().findings)
    assert (finding.opcode, finding.region, finding.address, finding.size) == (
        "OP_POOL", 1, 0x1000 + ROOM // 4 - 32, 32,
    )  # fmt: skip


def test_a_read_of_scratch_that_nothing_has_written_is_found(pool):
    spoilt = pool.with_register("IFM_BASE0", 64)
    assert spoilt.kinds() == {"read-unwritten"}
    finding = only(spoilt.report().findings)
    assert (finding.region, finding.address, finding.size) == (1, 0x1000 + ROOM // 4, 64)


@pytest.fixture
def copied_pool(pool, stream):
    """The pooling behind a transfer that brings its input, from as many written bytes as is said."""
    steps = {"DMA0_SRC": ROOM // 2, "DMA0_DST": 0, "DMA0_LEN": ROOM // 4}
    copy = stream(
        ("DMA0_SRC_REGION", {"region": 1}),
        ("DMA0_DST_REGION", {"region": 1}),
        *((name, {"value": value}) for name, value in steps.items()),
        ("OP_DMA_START", {}),
        ("OP_DMA_WAIT", {"outstanding": 0}),
    )

    def behind_copy_of(written: int, *, is_read: bool = True) -> Checked:
        code = copy[:-4] + pool.stream if is_read else copy
        return replace(pool, stream=code).with_region(1, written=((ROOM // 2, written),))

    return behind_copy_of


def test_padding_may_be_copied_but_not_read(copied_pool):
    assert copied_pool(ROOM // 4).kinds() == set()
    assert copied_pool(ROOM // 8, is_read=False).kinds() == set()
    finding = only(copied_pool(ROOM // 8).report().findings)
    assert (str(finding.check), finding.opcode) == ("read-unwritten", "OP_POOL")
    assert (finding.address, finding.size) == (0x1000 + ROOM // 8, ROOM // 8)


def test_a_copy_of_nothing_that_was_written_is_found(copied_pool):
    finding = only(copied_pool(0, is_read=False).report().findings)
    assert (str(finding.check), finding.opcode) == ("read-unwritten", "OP_DMA_START")


def test_a_read_before_the_transfer_that_would_fill_the_table_is_found(checked):
    sound = checked(NETWORK)
    (start,) = sound.commands("OP_DMA_START")
    spoilt = sound.without(start)
    assert spoilt.kinds() == {"read-unwritten"}
    assert {finding.region for finding in spoilt.report().findings} == {None}


@pytest.mark.parametrize(
    ("memory_mode", "region"),
    [("Sram_Only", 0), ("Sram_Only", 1), ("Dedicated_Sram", 2), ("Sram_Only", 3), ("Sram_Only", 4)],
)
def test_a_buffer_that_is_a_byte_too_small_is_found(checked, memory_mode, region):
    sound = checked(NETWORK, memory_mode=memory_mode)
    program = prepare(sound.stream, sound.config)
    used = [each for each in extents(program, len(program.steps)) if each.region == region]
    end = max(each.offset + each.size for each in used)
    assert sound.regions[region].size >= end
    spoilt = sound.with_region(region, size=end - 1)
    assert spoilt.kinds() == {"outside-region"}
    assert {(each.region, each.address, each.size) for each in spoilt.report().findings} == {
        (region, sound.regions[region].base + end - 1, 1)
    }


def test_a_region_without_a_buffer_is_found(pool):
    spoilt = pool.with_register("OFM_REGION", 6)
    assert spoilt.kinds() == {"outside-region"}
    assert "no buffer" in only(spoilt.report().findings).detail


@pytest.mark.parametrize("victim", [0, 3])
def test_outputs_that_point_one_buffer_lower_are_found(checked, victim):
    sound = checked(NETWORK)
    spoilt = sound.with_region(4, base=sound.regions[victim].base)
    assert spoilt.kinds() == {"write-protected"}


def test_a_write_through_the_region_of_the_inputs_is_found(pool):
    spoilt = pool.with_region(3, size=ROOM).with_register("OFM_REGION", 3)
    assert spoilt.kinds() == {"write-protected"}


def test_weights_at_an_odd_address_are_found(checked):
    sound = checked(NETWORK)
    spoilt = sound.with_region(0, base=sound.regions[0].base + 8)
    assert spoilt.kinds() == {"misaligned"}


def test_rows_of_a_list_that_may_not_be_written_are_unknown(checked, stream):
    """A transfer picks rows of the scratch by a list among the weights."""
    transfer = {
        "DMA0_SRC": 0, "DMA0_DST": 0, "DMA0_LEN": 16, "DMA0_SIZE0": 4, "DMA0_SRC_STRIDE0": 16,
        "DMA0_DST_STRIDE0": 16, "DMA0_IDX_REGION": 0, "DMA0_IDX": 0, "DMA0_IDX_MAX": 9,
    }  # fmt: skip
    code = stream(
        *((name, {"value": value}) for name, value in transfer.items()),
        ("DMA0_SRC_REGION", {"region": 1, "stride_mode": 1, "indexed": 1}),
        ("DMA0_DST_REGION", {"region": 4}),
        ("OP_DMA_START", {}),
    )
    spoilt = replace(checked(NETWORK), stream=code).with_region(4, size=64).with_region(1, size=160)
    report = spoilt.report()
    assert report.findings == ()
    assert [(str(each.check), each.size) for each in report.unknown] == [("read-unwritten", 160)]
    assert spoilt.with_region(1, written=((0, 160),)).report().unknown == ()
