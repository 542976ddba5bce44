"""Single operations compute what their registers say, on small feature maps written out by hand."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from harness.sim.npu.dma import transfer
from harness.sim.npu.elementwise import elementwise
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.opcodes import Activation, Elementwise, Pooling, Resize, Rounding, Transpose
from harness.sim.npu.pooling import pool
from harness.sim.npu.product import product
from harness.sim.npu.resize import resize

IFM, IFM2, OFM, SCALES = 0x0000, 0x4000, 0x8000, 0xC000
PRECISION = {"int8": 0, "int16": 1, "int32": 2, "int64": 3}
ONE = {"scale": 1, "shift": 0}
UNCLIPPED = {"clip_range": 1}
DISTANCE = 0x100  #: bytes between rows, more than any of these rows needs


class Bench:
    """One machine and the registers of the operation to be run on it."""

    def __init__(self, machine, registers):
        self.machine = machine
        self.build = registers
        self.settings = {
            "IFM_UPSCALE": 0,
            "OFM_SCALE": ONE,
            "IFM_SCALE": ONE,
            "IFM2_SCALE": ONE,
            "IFM_BROADCAST": 0,
            "IFM2_BROADCAST": 0,
            "KERNEL_STRIDE": {},
            "KERNEL_HEIGHT_M1": 0,
            "KERNEL_WIDTH_M1": 0,
            **{f"IFM_PAD_{side}": 0 for side in ("TOP", "LEFT", "BOTTOM", "RIGHT")},
            "ACC_FORMAT": {},
            **{f"OFM_BLK_{axis}_M1": 15 for axis in ("HEIGHT", "WIDTH", "DEPTH")},
        }

    def place(self, name, base, shape, dtype, **precision):
        size = np.dtype(dtype).itemsize
        self.settings |= {
            f"{name}_PRECISION": {"signed": 1, "precision": PRECISION[dtype], **precision},
            f"{name}_REGION": 0,
            f"{name}_ZERO_POINT": 0,
            f"{name}_HEIGHT0_M1": 0xFFFF,
            f"{name}_HEIGHT1_M1": 0xFFFF,
            f"{name}_WIDTH0_M1": 0xFFFF,
            f"{name}_BASE0": base,
            f"{name}_STRIDE_Y": DISTANCE,
            f"{name}_STRIDE_X": shape[2] * size,
            f"{name}_STRIDE_C": size,
        }

    def put_scales(self, *entries):
        """Place one (bias, scale, shift) for each channel, for operations with 32-bit accumulators."""
        content = b"".join(struct.pack("<iIBx", *entry) for entry in entries)
        self.machine.view(0, SCALES, len(content), Channel.OFM)[:] = np.frombuffer(content, np.uint8)
        self.settings |= {"SCALE_REGION": 0, "SCALE_BASE": SCALES, "SCALE_LENGTH": len(content)}

    def put(self, name, values, dtype):
        values = np.array(values, dtype)
        base = IFM if name == "IFM" else IFM2
        self.place(name, base, values.shape, dtype)
        self._view(base, values.shape, dtype)[...] = values
        if name == "IFM":
            self.settings["IFM_DEPTH_M1"] = values.shape[2] - 1

    def run(self, build, mode, shape, dtype, stored=None, **more):
        """Run the operation whose OFM has `shape`; return it as it is `stored`, transposed perhaps."""
        stored = stored or shape
        height, width, depth = (n - 1 for n in shape)
        self.place("OFM", OFM, stored, dtype, scale_mode=1)
        self.settings |= {"OFM_HEIGHT_M1": height, "OFM_WIDTH_M1": width, "OFM_DEPTH_M1": depth}
        self.settings |= clipped_to(dtype) if "ACTIVATION" not in more else {}
        for name, setting in more.items():
            old = self.settings.get(name)
            self.settings[name] = old | setting if isinstance(old, dict) else setting
        build(self.build(**self.settings), mode).run(self.machine)
        return self._view(OFM, stored, dtype).copy()

    def _view(self, base, shape, dtype):
        size = np.dtype(dtype).itemsize
        memory = self.machine.view(0, base, 1 << 14, Channel.OFM)
        return np.ndarray(shape, dtype, memory.data, strides=(DISTANCE, shape[2] * size, size))


@pytest.fixture
def bench(machine, registers):
    return Bench(machine, registers)


def clipped_to(dtype):
    """What the compiler has results clipped to: the element type, where the registers can say it."""
    limits = np.iinfo(dtype)
    if limits.bits > 16:
        return {"ACTIVATION": UNCLIPPED}
    return {"ACTIVATION": {}, "ACTIVATION_MIN": limits.min & 0xFFFF, "ACTIVATION_MAX": limits.max}


def row(*values):
    """A feature map of height 1, width 1."""
    return [[list(values)]]


def apply(bench, mode, *operands, dtype="int32", ofm="int32", **more):
    """Run an elementwise operation on rows; return the OFM's row."""
    for name, values in zip(("IFM", "IFM2"), operands, strict=False):
        bench.put(name, row(*values), dtype)
    shape = (1, 1, max(map(len, operands)))
    return bench.run(elementwise, mode, shape, ofm, **more).ravel().tolist()


class TestElementwise:
    @pytest.mark.parametrize(
        ("mode", "expected"),
        [
            (Elementwise.MUL, [21, -20, 0]),
            (Elementwise.ADD, [10, -1, -128]),
            (Elementwise.SUB, [4, 9, -128]),
            (Elementwise.MIN, [3, -5, -128]),
            (Elementwise.MAX, [7, 4, 0]),
        ],
    )
    def test_two_operands(self, bench, mode, expected):
        assert apply(bench, mode, [7, 4, -128], [3, -5, 0], dtype="int8", ofm="int8") == expected

    def test_absolute_value_saturates(self, bench):
        assert apply(bench, Elementwise.ABS, [-128, -1, 5], dtype="int8", ofm="int8") == [127, 1, 5]

    def test_zero_points_are_taken_off_and_put_on(self, bench):
        result = apply(bench, Elementwise.MUL, [12], [5], dtype="int8", ofm="int8", OFM_ZERO_POINT=0xFFFF)
        assert result == [59]
        bench.settings |= {"IFM_ZERO_POINT": 10, "IFM2_ZERO_POINT": 0xFFFD}
        assert bench.run(elementwise, Elementwise.MUL, (1, 1, 1), "int8", OFM_ZERO_POINT=1).item() == 17

    def test_inputs_of_a_sum_are_scaled_first(self, bench):
        half = {"scale": 1, "shift": 1, "rounding": 1}
        result = apply(
            bench, Elementwise.ADD, [5], [5], dtype="int8", ofm="int8", IFM_SCALE=half, IFM2_SCALE=half
        )
        assert result == [6]

    @pytest.mark.parametrize(
        ("mode", "expected"),
        [
            (Elementwise.MIN, [3, -6]),
            (Elementwise.MAX, [4, 4]),
            (Elementwise.CMP_GT, [0, -1]),
            (Elementwise.AND, [0, 0]),
            (Elementwise.XOR, [7, -2]),
        ],
    )
    def test_inputs_are_scaled_before_they_meet(self, bench, mode, expected):
        half, twice = {"scale": 1, "shift": 1, "rounding": 1}, {"scale": 2}
        scales = {"IFM_SCALE": half, "IFM2_SCALE": twice}
        assert apply(bench, mode, [6, 8], [2, -3], dtype="int8", ofm="int8", **scales) == expected

    def test_absolute_value_is_of_the_scaled_input(self, bench):
        half = {"scale": 1, "shift": 1, "rounding": Rounding.NATURAL}
        assert apply(bench, Elementwise.ABS, [-3, 5], dtype="int8", ofm="int8", IFM_SCALE=half) == [1, 3]

    def test_leaky_relu_has_a_scale_for_each_sign(self, bench):
        scales = {"IFM_SCALE": {"scale": 2}, "IFM2_SCALE": {"scale": 1, "shift": 1, "rounding": 1}}
        assert apply(bench, Elementwise.LRELU, [-8, 0, 8], dtype="int8", ofm="int8", **scales) == [-4, 0, 16]

    def test_word_product_ignores_the_multiplier(self, bench):
        scale = {"scale": 1 << 30, "shift": 31, "rounding": 1}
        result = apply(bench, Elementwise.MUL, [1 << 30, -(1 << 31)], [4, -(1 << 31)], OFM_SCALE=scale)
        assert result == [2, (1 << 31) - 1]

    def test_byte_product_is_scaled_in_full(self, bench):
        scale = {"scale": 1 << 30, "shift": 31}
        assert apply(bench, Elementwise.MUL, [10], [4], dtype="int8", ofm="int8", OFM_SCALE=scale) == [20]

    def test_shift_left_wraps_at_32_bits(self, bench):
        assert apply(bench, Elementwise.SHL, [3, 1, -1], [31, 0, 4]) == [-(1 << 31), 1, -16]

    def test_shift_left_of_bytes_drops_what_leaves_them(self, bench):
        more = {"dtype": "int8", "ofm": "int8", "ACTIVATION": UNCLIPPED}
        assert apply(bench, Elementwise.SHL, [3, 65, -1], [7, 1, 4], **more) == [-128, -126, -16]

    @pytest.mark.parametrize(
        ("dtype", "expected"), [("int8", [127, 3]), ("int16", [32767, 3]), ("int32", [(1 << 31) - 1, 3])]
    )
    def test_logical_shift_brings_zeros_into_the_element(self, bench, dtype, expected):
        more = {"dtype": dtype, "ofm": dtype, "ACTIVATION": UNCLIPPED}
        assert apply(bench, Elementwise.LSR, [-1, 100], [1, 5], **more) == expected

    def test_logical_shift_by_nothing_keeps_the_sign(self, bench):
        assert apply(bench, Elementwise.LSR, [-5], [0], ACTIVATION=UNCLIPPED) == [-5]

    @pytest.mark.parametrize(
        ("rounding", "expected"), [(Rounding.NATURAL, -1), (Rounding.TRUNCATE_TO_LOWER, -2)]
    )
    def test_shift_right_rounds_as_the_output_says(self, bench, rounding, expected):
        assert apply(bench, Elementwise.SHR, [-3], [1], OFM_SCALE={"rounding": rounding}) == [expected]

    def test_shift_of_a_scalar_by_a_feature_map(self, bench):
        bench.put("IFM2", row(0, 1, 2), "int32")
        more = {
            "IFM_PRECISION": {"signed": 1, "precision": 2, "storage": 3},
            "IFM_ZERO_POINT": 0,
            "OP_SCALAR": 12,
        }
        result = bench.run(
            elementwise, Elementwise.SHR, (1, 1, 3), "int32", OFM_SCALE={"rounding": 1}, **more
        )
        assert result.ravel().tolist() == [12, 6, 3]

    @pytest.mark.parametrize(("dtype", "amount"), [("int32", -1), ("int32", 32), ("int16", 16), ("int8", 8)])
    @pytest.mark.parametrize("mode", [Elementwise.SHL, Elementwise.SHR, Elementwise.LSR])
    def test_shift_beyond_the_element_is_refused(self, bench, mode, dtype, amount):
        with pytest.raises(CommandError, match=f"-bit elements by {amount} to {amount} are not modelled"):
            apply(bench, mode, [1], [amount], dtype=dtype, ofm=dtype)

    def test_leading_zeros(self, bench):
        assert apply(bench, Elementwise.CLZ, [0, 1, 0xFFFF, 0x7FFFFFFF, -1]) == [32, 31, 16, 1, 0]

    def test_leading_zeros_are_those_of_the_scaled_number(self, bench):
        scale = {"scale": 75, "shift": 1, "rounding": Rounding.NATURAL}
        assert apply(bench, Elementwise.CLZ, [2, -1, 0], dtype="int8", IFM_SCALE=scale) == [25, 0, 32]

    @pytest.mark.parametrize(("axis", "bit"), [("height", 1), ("width", 2), ("depth", 4)])
    def test_operand_is_repeated_along_an_axis(self, bench, axis, bit):
        values = np.arange(12).reshape(2, 2, 3)
        single = values[
            (slice(0, 1 if bit == 1 else 2), slice(0, 1 if bit == 2 else 2), slice(0, 1 if bit == 4 else 3))
        ]
        bench.put("IFM", values, "int8")
        bench.put("IFM2", single, "int8")
        result = bench.run(elementwise, Elementwise.ADD, (2, 2, 3), "int8", IFM2_BROADCAST=bit)
        assert np.array_equal(result, values + single)

    @pytest.mark.parametrize(
        ("mode", "more", "reason"),
        [
            (Elementwise.LSR, {"IFM_SCALE": {"scale": 3}}, "scaled inputs"),
            (Elementwise.MUL, {"IFM2_SCALE": {"scale": 3}}, "scaled inputs"),
            (Elementwise.SHR, {"OFM_SCALE": {"scale": 3}}, "scaled output"),
            (Elementwise.SHL, {"IFM2_PRECISION": {"signed": 1, "precision": 0}}, "differ in element size"),
            (Elementwise.ADD, {"OFM_PRECISION": {"signed": 1, "scale_mode": 0}}, "global scales only"),
        ],
    )
    def test_what_is_not_modelled_is_refused(self, bench, mode, more, reason):
        with pytest.raises(CommandError, match=reason):
            apply(bench, mode, [1], [1], **more)

    def test_division_by_zero_is_refused(self, bench):
        with pytest.raises(CommandError, match="division by zero"):
            apply(bench, Elementwise.DIV, [1], [0])


class TestPooling:
    IMAGE = np.array([[[1], [-7], [3]], [[4], [5], [-6]], [[-9], [8], [2]]])

    def pooled(self, bench, mode, size=2, out=(2, 2, 1), **more):
        bench.put("IFM", self.IMAGE, "int8")
        kernel = {"KERNEL_HEIGHT_M1": size - 1, "KERNEL_WIDTH_M1": size - 1}
        return bench.run(pool, mode, out, "int8", **kernel | more)[:, :, 0].tolist()

    @pytest.mark.parametrize(
        ("mode", "expected"),
        [
            (Pooling.MAX, [[5, 5], [8, 8]]),
            (Pooling.MIN, [[-7, -7], [-9, -6]]),
            (Pooling.SUM, [[3, -5], [8, 9]]),
            (Pooling.AVERAGE, [[1, -1], [2, 2]]),
        ],
    )
    def test_windows_of_two_by_two(self, bench, mode, expected):
        assert self.pooled(bench, mode) == expected

    def test_padding_never_is_the_maximum(self, bench):
        pads = {"IFM_PAD_TOP": 1, "IFM_PAD_LEFT": 1}
        bench.put("IFM", [[[-5]]], "int8")
        result = bench.run(
            pool, Pooling.MAX, (1, 1, 1), "int8", KERNEL_HEIGHT_M1=1, KERNEL_WIDTH_M1=1, **pads
        )
        assert result.item() == -5

    def test_padding_does_not_count_in_an_average(self, bench):
        pads = {"IFM_PAD_TOP": 1, "IFM_PAD_LEFT": 1, "KERNEL_STRIDE": {"x_low": 1, "y_low": 1}}
        assert self.pooled(bench, Pooling.AVERAGE, **pads) == [[1, -2], [-3, 2]]

    def test_average_rounds_ties_away_from_zero(self, bench):
        bench.put("IFM", [[[-3], [0]], [[3], [0]]], "int8")
        assert bench.run(pool, Pooling.AVERAGE, (2, 1, 1), "int8", KERNEL_WIDTH_M1=1).ravel().tolist() == [
            -2,
            2,
        ]

    def test_sum_over_the_depth(self, bench):
        bench.put("IFM", row(100, 100, 100), "int8")
        assert bench.run(pool, Pooling.REDUCE_SUM, (1, 1, 1), "int32").item() == 300

    @pytest.mark.parametrize(
        ("mode", "size", "expected"),
        [(Pooling.ARGMAX_X, "KERNEL_WIDTH_M1", [2, 1, 1]), (Pooling.ARGMAX_Y, "KERNEL_HEIGHT_M1", [1, 2, 0])],
    )
    def test_position_of_the_maximum(self, bench, mode, size, expected):
        bench.put("IFM", self.IMAGE, "int8")
        shape = (3, 1, 1) if mode is Pooling.ARGMAX_X else (1, 3, 1)
        result = bench.run(pool, mode, shape, "int32", OFM_SCALE={"shift": 16}, **{size: 2})
        assert result.ravel().tolist() == expected

    def test_mode_none_passes_ifm2_through_the_output_stage(self, bench):
        bench.put("IFM2", row(1000, -1000, 5), "int32")
        more = {"ACC_FORMAT": {"input": 2}, "OFM_SCALE": {"scale": 1, "shift": 2, "rounding": 1}}
        assert bench.run(pool, Pooling.NONE, (1, 1, 3), "int8", **more).ravel().tolist() == [127, -128, 1]

    def test_each_channel_has_its_own_bias_and_scale(self, bench):
        bench.put("IFM2", row(1000, -1000, 5), "int32")
        bench.put_scales((24, 1, 4), (0, 1, 3), (-7, 6, 0))
        more = {"ACC_FORMAT": {"input": 2}, "OFM_PRECISION": {"scale_mode": 0}}
        assert bench.run(pool, Pooling.NONE, (1, 1, 3), "int8", **more).ravel().tolist() == [64, -125, -12]

    def test_windows_too_can_have_a_scale_for_each_channel(self, bench):
        bench.put("IFM", [[[1, 1], [2, 3]]], "int8")
        bench.put_scales((0, 3, 0), (0, 5, 0))
        more = {"KERNEL_WIDTH_M1": 1, "OFM_PRECISION": {"scale_mode": 0}}
        assert bench.run(pool, Pooling.SUM, (1, 1, 2), "int8", **more).ravel().tolist() == [9, 20]

    @pytest.mark.parametrize(
        ("values", "entry", "reason"),
        [((2**31 - 1,), (1, 1, 0), "accumulator passes"), ((1, 2), (0, 1, 0), "too short for 2 channels")],
    )
    def test_a_table_of_scales_that_does_not_fit_is_refused(self, bench, values, entry, reason):
        bench.put("IFM2", row(*values), "int32")
        bench.put_scales(entry)
        more = {"ACC_FORMAT": {"input": 2}, "OFM_PRECISION": {"scale_mode": 0}}
        with pytest.raises(CommandError, match=reason):
            bench.run(pool, Pooling.NONE, (1, 1, len(values)), "int8", **more)

    def test_sum_that_passes_the_accumulator_is_refused(self, bench):
        bench.put("IFM", row(2**31 - 1, 1), "int32")
        with pytest.raises(CommandError, match="accumulator passes"):
            bench.run(pool, Pooling.REDUCE_SUM, (1, 1, 1), "int32")

    @pytest.mark.parametrize(
        ("more", "reason"),
        [
            ({"OFM_SCALE": {"scale": 3}}, "scale other than one"),
            ({"OFM_PRECISION": {"scale_mode": 0}}, "global scales only"),
            ({"IFM_PAD_TOP": 5}, "padding leaves"),
            ({"IFM_PAD_TOP": 2, "KERNEL_STRIDE": {"y_low": 1}}, "nothing but padding"),
            ({"IFM_DEPTH_M1": 4}, "from 5 to 1 channels"),
            ({"ACC_FORMAT": {"input": 1}}, "from or to accumulators"),
            ({"ACC_FORMAT": {"output": 1}}, "from or to accumulators"),
            ({"ACC_FORMAT": {"microblock": 7}}, "undefined value 7"),
            ({"KERNEL_STRIDE": {"dilation_x": 1}}, "dilation"),
            ({"KERNEL_WIDTH_M1": 0xFFFF, "KERNEL_HEIGHT_M1": 0xFFFF}, "larger than"),
        ],
    )
    def test_what_is_not_modelled_is_refused(self, bench, more, reason):
        with pytest.raises(CommandError, match=reason):
            self.pooled(bench, Pooling.AVERAGE, **more)


class TestOutput:
    CUBE = np.arange(24).reshape(2, 3, 4)

    @pytest.mark.parametrize("order", list(Transpose))
    def test_axes_are_written_in_the_order_of_their_letters(self, bench, order):
        axes = ["HWC".index(letter) for letter in order.name]
        expected = self.CUBE.transpose(axes)
        bench.put("IFM", self.CUBE, "int8")
        precision = {"OFM_PRECISION": {"transpose": order}}
        result = bench.run(pool, Pooling.SUM, self.CUBE.shape, "int8", stored=expected.shape, **precision)
        assert np.array_equal(result, expected)

    @pytest.mark.parametrize(("reverse", "axis"), [(1, 0), (2, 1), (3, 2)])
    def test_axis_is_written_backwards(self, bench, reverse, axis):
        bench.put("IFM", self.CUBE, "int8")
        result = bench.run(pool, Pooling.SUM, self.CUBE.shape, "int8", OFM_PRECISION={"reverse": reverse})
        assert np.array_equal(result, np.flip(self.CUBE, axis))

    def test_transposing_and_reversing_at_once_is_refused(self, bench):
        bench.put("IFM", self.CUBE, "int8")
        with pytest.raises(CommandError, match="at once"):
            bench.run(
                pool, Pooling.SUM, self.CUBE.shape, "int8", OFM_PRECISION={"reverse": 1, "transpose": 1}
            )

    def test_clipping_comes_after_the_zero_point(self, bench):
        clip = {
            "ACTIVATION": {"clip_range": 0},
            "ACTIVATION_MIN": 0xFFFE,
            "ACTIVATION_MAX": 5,
            "OFM_ZERO_POINT": 3,
        }
        assert apply(bench, Elementwise.ABS, [0, 1, 100], dtype="int8", ofm="int8", **clip) == [3, 4, 5]

    @pytest.mark.parametrize(("ofm", "expected"), [("int8", [-56, -1]), ("int16", [200, -257])])
    def test_without_a_clip_range_the_higher_bits_are_dropped(self, bench, ofm, expected):
        operands = [100, -257], [100, 0]
        result = apply(bench, Elementwise.ADD, *operands, dtype="int16", ofm=ofm, ACTIVATION=UNCLIPPED)
        assert result == expected

    def test_empty_clip_range_is_refused(self, bench):
        clip = {"ACTIVATION": {"clip_range": 0}, "ACTIVATION_MIN": 6, "ACTIVATION_MAX": 5}
        with pytest.raises(CommandError, match="above"):
            apply(bench, Elementwise.ABS, [0], **clip)

    @pytest.mark.parametrize(
        ("function", "entry", "ofm"),
        [
            (Activation.LUT_S8_S8, "i1", "int8"),
            (Activation.LUT_S8_S16, "<i2", "int16"),
            (Activation.LUT_S8_S32, "<i4", "int32"),
        ],
    )
    def test_table_is_indexed_from_the_lowest_value(self, bench, function, entry, ofm):
        table = np.arange(256).astype(entry)
        bench.machine.lut[len(table.tobytes()) :][: len(table.tobytes())] = np.frombuffer(
            table.tobytes(), np.uint8
        )
        activation = {"ACTIVATION": {"function": function, "table": 1, "clip_range": 1}}
        result = apply(bench, Elementwise.ADD, [-128, 0, 127], [0, 0, 0], dtype="int8", ofm=ofm, **activation)
        assert result == table[[0, 128, 255]].tolist()

    def test_table_of_16_bits_is_a_line_between_its_points(self, bench):
        points = np.zeros((512, 2), "<i2")
        points[:, 0] = np.arange(-256, 256) * 10
        points[:, 1] = 10
        bench.machine.lut[:] = np.frombuffer(points.tobytes(), np.uint8)
        activation = {"ACTIVATION": {"function": Activation.LUT_S16_S16, "clip_range": 1}}
        values = [-32768, -1, 0, 64, 32767]
        result = apply(bench, Elementwise.ADD, values, [0] * 5, dtype="int16", ofm="int16", **activation)
        assert result == [(value * 10 + 64) >> 7 for value in values]

    def test_table_of_32_bits_gives_its_fraction_too(self, bench):
        points = np.zeros((512, 2), "<i2")
        points[:, 0] = np.arange(-256, 256) * 10
        points[:, 1] = 10
        bench.machine.lut[:] = np.frombuffer(points.tobytes(), np.uint8)
        activation = {"ACTIVATION": {"function": Activation.LUT_S16_S32, "clip_range": 1}}
        values = [-32768, -1, 0, 64, 32767]
        result = apply(bench, Elementwise.ADD, values, [0] * 5, dtype="int16", **activation)
        assert result == [value * 10 for value in values]

    @pytest.mark.parametrize(
        ("activation", "reason"),
        [
            ({"function": 2}, "undefined value 2"),
            ({"function": Activation.LUT_S8_S32, "table": 2}, "outside the table RAM"),
        ],
    )
    def test_table_that_is_not_modelled_is_refused(self, bench, activation, reason):
        with pytest.raises(CommandError, match=reason):
            apply(bench, Elementwise.ABS, [0], ACTIVATION=activation)


class TestComparison:
    @pytest.mark.parametrize(
        ("mode", "expected"),
        [
            (Elementwise.CMP_EQ, [0, -1, 0]),
            (Elementwise.CMP_NE, [-1, 0, -1]),
            (Elementwise.CMP_GE, [0, -1, -1]),
            (Elementwise.CMP_GT, [0, 0, -1]),
        ],
    )
    def test_all_bits_are_set_where_it_holds(self, bench, mode, expected):
        assert apply(bench, mode, [1, 2, 3], [2, 2, 2], dtype="int8", ofm="int8") == expected

    @pytest.mark.parametrize(
        ("mode", "expected"),
        [
            (Elementwise.AND, [0b1000]),
            (Elementwise.OR, [0b1110]),
            (Elementwise.XOR, [0b0110]),
            (Elementwise.AND_NOT, [0b0100]),
            (Elementwise.NOT, [~0b1100]),
        ],
    )
    def test_bits_are_combined(self, bench, mode, expected):
        assert apply(bench, mode, [0b1100], [0b1010], dtype="int8", ofm="int8") == expected


class TestResize:
    def resized(self, bench, mode, values, size, parts, step, offset=0, shift=0):
        bench.put("IFM", [[[value] for value in values]], "int8")
        whole, rest = divmod(step, parts)
        settings = {
            "RESIZE_X_SCALE_N_M1": parts - 1,
            "RESIZE_X_STEP": {"step": whole, "step_mod": rest},
            "RESIZE_X_OFFSET": offset % (1 << 12),
            "RESIZE_Y_SCALE_N_M1": 0,
            "RESIZE_Y_STEP": {"step": 1},
            "RESIZE_Y_OFFSET": 0,
            "KERNEL_WIDTH_M1": len(values) - 1,
            "OFM_SCALE": {"scale": 1, "shift": 16 + shift, "rounding": Rounding.NATURAL},
        }
        return bench.run(resize, mode, (1, size, 1), "int8", **settings).ravel().tolist()

    def test_blend_between_two_neighbours(self, bench):
        assert self.resized(bench, Resize.BILINEAR, [0, 8, 40], 6, 2, 1, shift=1) == [0, 4, 8, 24, 40, 40]

    def test_offset_puts_the_first_before_the_image(self, bench):
        assert self.resized(bench, Resize.BILINEAR, [8, 16], 4, 4, 2, offset=-1, shift=2) == [8, 10, 14, 16]

    def test_nearest_goes_up_at_one_half(self, bench):
        assert self.resized(bench, Resize.NEAREST, [1, 2, 3], 6, 2, 1) == [1, 2, 2, 3, 3, 3]

    def test_replicate_stays_below(self, bench):
        assert self.resized(bench, Resize.REPLICATE, [1, 2, 3], 6, 2, 1) == [1, 1, 2, 2, 3, 3]


class TestProduct:
    LEFT = np.array([[[1, 2], [3, 4], [5, 6]]])
    RIGHT = np.array([[[1, 0], [1, 1]]])

    def multiplied(self, bench, shape=(1, 3, 2), **more):
        bench.put("IFM", self.LEFT, "int8")
        bench.put("IFM2", self.RIGHT, "int8")
        return bench.run(lambda registers, _: product(registers), None, shape, "int8", **more)

    def test_rows_of_one_meet_rows_of_the_other(self, bench):
        assert self.multiplied(bench).tolist() == (self.LEFT @ self.RIGHT[0].T).tolist()

    def test_zero_points_are_taken_off_both(self, bench):
        self.multiplied(bench)
        bench.settings |= {"IFM_ZERO_POINT": 1, "IFM2_ZERO_POINT": 0xFFFF}
        result = bench.run(lambda registers, _: product(registers), None, (1, 3, 2), "int8")
        assert result.tolist() == ((self.LEFT - 1) @ (self.RIGHT[0] + 1).T).tolist()

    def test_more_than_one_row_is_refused(self, bench):
        with pytest.raises(CommandError, match="more than one row"):
            self.multiplied(bench, (2, 3, 2))


class TestDma:
    def copy(self, bench, stride_mode=0, destination=0, **settings):
        defaults = {"DMA0_SRC": IFM, "DMA0_DST": OFM, "DMA0_LEN": 4, "DMA0_SIZE0": 1}
        source = {"stride_mode": stride_mode}
        state = bench.build(
            DMA0_SRC_REGION=source, DMA0_DST_REGION={"mode": destination}, **defaults | settings
        )
        transfer(state).run(bench.machine)

    @pytest.fixture
    def memory(self, bench):
        memory = bench.machine.view(0, 0, 1 << 16, Channel.DMA_READ)
        memory[:256] = np.arange(256)
        return memory

    def test_one_dimension(self, bench, memory):
        self.copy(bench)
        assert memory[OFM : OFM + 5].tolist() == [0, 1, 2, 3, 0xA5]

    def test_rows_with_gaps(self, bench, memory):
        self.copy(bench, 1, DMA0_SIZE0=2, DMA0_SRC_STRIDE0=16, DMA0_DST_STRIDE0=5)
        assert memory[OFM : OFM + 9].tolist() == [0, 1, 2, 3, 0xA5, 16, 17, 18, 19]

    def test_planes_of_rows(self, bench, memory):
        strides = {
            "DMA0_SRC_STRIDE0": 16,
            "DMA0_DST_STRIDE0": 4,
            "DMA0_SRC_STRIDE1": 64,
            "DMA0_DST_STRIDE1": 8,
        }
        self.copy(bench, 2, DMA0_SIZE0=2, DMA0_SIZE1=2, **strides)
        assert memory[OFM : OFM + 16].reshape(4, 4)[:, 0].tolist() == [0, 16, 64, 80]

    def test_table_ram_is_a_destination(self, bench, memory):
        self.copy(bench, destination=1, DMA0_DST=256)
        assert bench.machine.lut[255:261].tolist() == [0, 0, 1, 2, 3, 0]

    @pytest.mark.parametrize(
        ("settings", "reason"),
        [
            ({"destination": 1, "DMA0_DST": 2046}, "outside the table RAM"),
            ({"DMA0_LEN": 0}, "transfer of"),
            ({"DMA0_LEN": 1 << 39}, "transfer of"),
            ({"stride_mode": 3}, "undefined value 3"),
        ],
    )
    def test_transfer_that_makes_no_sense_is_refused(self, bench, settings, reason):
        with pytest.raises(CommandError, match=reason):
            self.copy(bench, **settings)

    LIST = 0x2000  #: where the list of rows lies

    def by_list(self, bench, memory, rows, end, mode=1, last=7):
        memory[self.LIST : self.LIST + 4 * len(rows)] = np.frombuffer(
            np.array(rows, "<i4").tobytes(), np.uint8
        )
        state = bench.build(
            DMA0_SRC_REGION={"stride_mode": mode, "indexed": end == "SRC"},
            DMA0_DST_REGION={"indexed": end == "DST"},
            DMA0_SRC=IFM,
            DMA0_DST=OFM,
            DMA0_LEN=2,
            DMA0_SIZE0=len(rows),
            DMA0_SRC_STRIDE0=2,
            DMA0_DST_STRIDE0=2,
            DMA0_IDX_REGION=0,
            DMA0_IDX=self.LIST,
            DMA0_IDX_MAX=last,
        )
        transfer(state).run(bench.machine)
        return memory[OFM : OFM + 8].tolist()

    def test_rows_are_gathered_by_a_list(self, bench, memory):
        assert self.by_list(bench, memory, [3, 0, 3], "SRC") == [6, 7, 0, 1, 6, 7, 0xA5, 0xA5]

    def test_rows_are_scattered_by_a_list(self, bench, memory):
        assert self.by_list(bench, memory, [3, 0], "DST") == [2, 3, 0xA5, 0xA5, 0xA5, 0xA5, 0, 1]

    @pytest.mark.parametrize("row", [-1, 8])
    def test_row_that_is_not_there_is_refused(self, bench, memory, row):
        with pytest.raises(CommandError, match="list of rows"):
            self.by_list(bench, memory, [row], "SRC")

    def test_list_in_one_dimension_names_one_row(self, bench, memory):
        assert self.by_list(bench, memory, [3], "SRC", mode=0) == [6, 7] + 6 * [0xA5]
