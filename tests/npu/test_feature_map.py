"""Feature maps are found in memory where the address formulae say, element for element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.sim.npu.faults import AccessFault, Channel, CommandError
from harness.sim.npu.feature_map import MAX_ELEMENTS, Chained, Scalar, operand, stored, zero_point

NHWC, NHCWB16 = 0, 1
TILE2X2, TILE3X1, CHAINED, NONE = range(4)
ELEMENTS = {"int8": (1, 0), "uint8": (0, 0), "int16": (1, 1), "int32": (1, 2), "int64": (1, 3)}


@pytest.fixture
def layout(registers):
    """A function that describes an OFM; tiles are given as (rows of tiles 0 and 1, columns of tile 0)."""

    def build(
        dtype="int8", layout_format=NHWC, tiles=(99, 99, 99), bases=(0, 0, 0, 0), strides=(0, 0, 0), **more
    ):
        signed, precision = ELEMENTS[dtype]
        settings = {
            "OFM_PRECISION": {"signed": signed, "precision": precision, "format": layout_format},
            "OFM_REGION": 0,
            "OFM_HEIGHT0_M1": tiles[0] - 1,
            "OFM_HEIGHT1_M1": tiles[1] - 1,
            "OFM_WIDTH0_M1": tiles[2] - 1,
            **{f"OFM_BASE{index}": base for index, base in enumerate(bases)},
            **{f"OFM_STRIDE_{axis}": stride for axis, stride in zip("YXC", strides, strict=True)},
        }
        return registers(**settings | more)

    return build


def address(y, x, c, layout_format, size, tiles, bases, strides):
    """Where an element lies, said in the plainest way."""
    right = x >= tiles[2]
    below = y >= (tiles[1] if right else tiles[0])
    if right:
        x -= tiles[2]
    if below:
        y -= tiles[1] if right else tiles[0]
    base = bases[2 * below + right]
    if layout_format == NHWC:
        return base + y * strides[0] + x * strides[1] + c * size
    return base + y * strides[0] + c // 16 * strides[2] + x * 16 * size + c % 16 * size


LAYOUTS = {
    "dense": ((5, 4, 3), NHWC, (99, 99, 99), (100, 0, 0, 0), (48, 12, 4)),
    "rows apart": ((5, 4, 3), NHWC, (99, 99, 99), (100, 0, 0, 0), (100, 20, 4)),
    "rolling buffer": ((5, 4, 3), NHWC, (2, 99, 99), (600, 0, 100, 0), (48, 12, 4)),
    "four tiles": ((5, 4, 3), NHWC, (2, 3, 1), (100, 1000, 2000, 3000), (48, 12, 4)),
    "bricks": ((3, 2, 32), NHCWB16, (99, 99, 99), (64, 0, 0, 0), (1024, 0, 128)),
    "part of a brick": ((3, 2, 5), NHCWB16, (99, 99, 99), (64, 0, 0, 0), (256, 0, 128)),
    "brick and a part": ((3, 2, 21), NHCWB16, (99, 99, 99), (64, 0, 0, 0), (512, 0, 128)),
    "bricks in a rolling buffer": ((4, 2, 21), NHCWB16, (3, 99, 99), (2048, 0, 64, 0), (512, 0, 128)),
}


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_elements_lie_where_the_formula_says(layout, machine, name, dtype):
    shape, layout_format, tiles, bases, strides = LAYOUTS[name]
    size = np.dtype(dtype).itemsize
    if layout_format == NHWC:
        strides = (strides[0], strides[1], size)
    feature_map = stored(layout(dtype, layout_format, tiles, bases, strides), "OFM", shape)
    values = np.random.default_rng(1).integers(-100, 100, shape).astype(dtype)
    memory = machine.view(0, 0, 1 << 16, Channel.OFM)
    memory[:] = 0xA5
    expected = memory.copy()
    for y, x, c in itertools.product(*map(range, shape)):
        where = address(y, x, c, layout_format, size, tiles, bases, strides)
        expected[where : where + size] = np.frombuffer(values[y, x, c].tobytes(), np.uint8)
    feature_map.write(machine, values)
    assert np.array_equal(memory, expected)
    assert np.array_equal(feature_map.read(machine, Channel.IFM, np.int64), values)


def test_formula_tells_the_layouts_apart():
    assert (
        len({address(1, 1, 17, f, 1, (99, 99, 99), (0, 0, 0, 0), (96, 48, 1000)) for f in (NHWC, NHCWB16)})
        == 2
    )


def test_last_part_of_a_brick_may_end_with_the_memory(layout, machine):
    feature_map = stored(layout(layout_format=NHCWB16, bases=((1 << 16) - 5, 0, 0, 0)), "OFM", (1, 1, 5))
    feature_map.write(machine, np.ones((1, 1, 5), np.int8))
    assert machine.view(0, (1 << 16) - 5, 5, Channel.OFM).tolist() == [1] * 5


def test_access_outside_memory_names_region_and_bus_master(layout, machine):
    feature_map = stored(layout(bases=((1 << 16) - 2, 0, 0, 0), strides=(3, 1, 1)), "OFM", (1, 1, 3))
    with pytest.raises(AccessFault) as caught:
        feature_map.write(machine, np.zeros((1, 1, 3), np.int8))
    assert (caught.value.region, caught.value.channel) == (0, Channel.OFM)


def test_tile_that_is_not_reached_needs_no_base(registers):
    state = registers(
        OFM_PRECISION={"signed": 1},
        OFM_REGION=0,
        OFM_HEIGHT0_M1=1,
        OFM_HEIGHT1_M1=1,
        OFM_WIDTH0_M1=2,
        OFM_BASE0=0,
        OFM_STRIDE_Y=3,
        OFM_STRIDE_X=1,
        OFM_STRIDE_C=1,
    )
    assert len(stored(state, "OFM", (2, 3, 1)).pieces) == 1
    with pytest.raises(CommandError, match="OFM_BASE2"):
        stored(state, "OFM", (3, 3, 1))


def test_chained_feature_map_comes_back_as_it_was_written(layout, machine):
    state = layout(OFM_PRECISION={"signed": 1, "precision": 2, "storage": CHAINED}, OFM_REGION=1)
    feature_map = stored(state, "OFM", (1, 2, 3))
    values = np.arange(6).reshape(1, 2, 3)
    assert isinstance(feature_map, Chained)
    feature_map.write(machine, values)
    assert np.array_equal(feature_map.read(machine, Channel.IFM, np.int64), values)


def test_chaining_buffer_must_be_written_before_it_is_read(layout, machine):
    state = layout(OFM_PRECISION={"signed": 1, "precision": 2, "storage": CHAINED}, OFM_REGION=1)
    with pytest.raises(CommandError, match="never written"):
        stored(state, "OFM", (1, 2, 3)).read(machine, Channel.IFM, np.int64)


def test_chaining_buffer_does_not_outlive_its_stream(layout, machine):
    state = layout(OFM_PRECISION={"signed": 1, "precision": 2, "storage": CHAINED}, OFM_REGION=1)
    feature_map = stored(state, "OFM", (1, 1, 1))
    feature_map.write(machine, np.zeros((1, 1, 1), np.int64))
    machine.start([0])
    with pytest.raises(CommandError, match="never written"):
        feature_map.read(machine, Channel.IFM, np.int64)


def test_scalar_is_signed(registers, machine):
    state = registers(IFM2_PRECISION={"signed": 1, "precision": 2, "storage": NONE}, OP_SCALAR=0xFFFFFFFE)
    source = operand(state, "IFM2", (4, 4, 4))
    assert isinstance(source, Scalar)
    assert source.read(machine, Channel.IFM, np.int64).tolist() == [[[-2]]]


@pytest.mark.parametrize(("signed", "expected"), [(1, -128), (0, 65408)])
def test_zero_point_is_signed_when_the_elements_are(registers, signed, expected):
    assert zero_point(registers(IFM_PRECISION={"signed": signed}, IFM_ZERO_POINT=65408), "IFM") == expected


def test_register_that_was_never_set_is_named(registers):
    with pytest.raises(CommandError, match="OFM_REGION is needed and was never set"):
        stored(registers(OFM_PRECISION={"signed": 1}), "OFM", (1, 1, 1))


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"OFM_PRECISION": {"signed": 0, "precision": 2}}, "32 bits"),
        ({"OFM_PRECISION": {"signed": 1, "storage": TILE3X1}}, "TILE3X1"),
        ({"OFM_PRECISION": {"signed": 1, "format": 3}}, "undefined value 3"),
        ({"OFM_STRIDE_C": 2}, "gaps"),
    ],
)
def test_layout_that_is_not_modelled_is_refused(layout, setting, reason):
    with pytest.raises(CommandError, match=reason):
        stored(layout(strides=(3, 3, 1), **setting), "OFM", (1, 1, 3))


def test_feature_map_of_absurd_size_is_refused(layout):
    with pytest.raises(CommandError, match="larger than"):
        stored(layout(), "OFM", (1, 1, MAX_ELEMENTS + 1))
