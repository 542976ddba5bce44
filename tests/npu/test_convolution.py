"""Convolutions take the IFM's zero point off, whether their sums come whole or in parts."""

from __future__ import annotations

import numpy as np
import pytest

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.convolution import convolution
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.weights.layout import Traversal, WeightLayout
from harness.sim.npu.weights.order import WeightOrder

IFM, IFM2, OFM, WEIGHTS, SCALES = 0x0000, 0x0800, 0x1000, 0x2000, 0x4000
SIDE, DEPTH, CHANNELS = 3, 8, 2
ZERO_POINT, BIAS = -7, (100, -50)
RAW_WEIGHTS = (1).to_bytes(32, "little")  #: header of a fast weight stream of plain bytes
KEEP, FROM_IFM2, DISABLE = {"input": 1}, {"input": 2}, {"output": 1}
NOTHING = np.zeros((SIDE, SIDE, CHANNELS), np.int32)


def encoded(weights):
    """The fast weight stream of [channel, kernel height, kernel width, depth]."""
    layout = WeightLayout(
        128,
        True,
        False,
        Traversal.DEPTH_FIRST,
        *weights.shape[::3],
        *weights.shape[1:3],
        1,
        1,
        1,
        1,
        16,
        (1, 1),
        8,
    )
    order = WeightOrder(layout)
    codes = np.zeros(order.length, np.int8)
    codes[order.restore(np.arange(order.length)[None]).ravel()] = weights.ravel()
    return RAW_WEIGHTS + codes.tobytes() + bytes(-len(codes) % 32)


def scales():
    """The scale stream: multiplier 1, shift 0."""
    return b"".join(bias.to_bytes(4, "little", signed=True) + bytes([1, 0, 0, 0, 0, 0]) for bias in BIAS)


@pytest.fixture
def convolve(machine, registers):
    """A function that runs a convolution with a 3x3 kernel and padding, and returns the OFM as it is then."""

    def put(base, content):
        machine.view(0, base, len(content), Channel.OFM)[...] = np.frombuffer(content, np.uint8)

    def feature_map(name, base, depth, precision=0):
        return {
            f"{name}_PRECISION": {"signed": 1, "precision": precision},
            f"{name}_REGION": 0,
            **{f"{name}_{extent}_M1": 0xFFFF for extent in ("HEIGHT0", "HEIGHT1", "WIDTH0")},
            f"{name}_BASE0": base,
            f"{name}_STRIDE_Y": SIDE * depth << precision,
            f"{name}_STRIDE_X": depth << precision,
            f"{name}_STRIDE_C": 1 << precision,
        }

    def run(ifm, weights, start=NOTHING, start_zero=0, **accumulators):
        stream = encoded(weights)
        places = ((IFM, ifm.tobytes()), (IFM2, start.tobytes()), (WEIGHTS, stream), (SCALES, scales()))
        for base, content in places:
            put(base, content)
        settings = registers(
            **feature_map("IFM", IFM, DEPTH),
            **feature_map("IFM2", IFM2, CHANNELS, start.dtype.itemsize.bit_length() - 1),
            **feature_map("OFM", OFM, CHANNELS),
            IFM2_ZERO_POINT=start_zero,
            IFM_ZERO_POINT=ZERO_POINT & 0xFFFF,
            OFM_ZERO_POINT=0,
            IFM_DEPTH_M1=DEPTH - 1,
            OFM_HEIGHT_M1=SIDE - 1,
            OFM_WIDTH_M1=SIDE - 1,
            OFM_DEPTH_M1=CHANNELS - 1,
            **{f"OFM_BLK_{axis}_M1": 15 for axis in ("HEIGHT", "WIDTH", "DEPTH")},
            KERNEL_HEIGHT_M1=2,
            KERNEL_WIDTH_M1=2,
            KERNEL_STRIDE={},
            **{f"IFM_PAD_{side}": 1 for side in ("TOP", "LEFT", "BOTTOM", "RIGHT")},
            IFM_UPSCALE=0,
            WEIGHT_FORMAT={"format": 1},
            WEIGHT_REGION=0,
            WEIGHT_BASE=WEIGHTS,
            WEIGHT_LENGTH=len(stream),
            SCALE_REGION=0,
            SCALE_BASE=SCALES,
            SCALE_LENGTH=len(scales()),
            OFM_SCALE={"scale": 1},
            ACTIVATION={},
            ACTIVATION_MIN=-128 & 0xFFFF,
            ACTIVATION_MAX=127,
            ACC_FORMAT=accumulators,
        )
        convolution(settings, NpuConfig(128), depthwise=False).run(machine)
        ofm = machine.view(0, OFM, SIDE * SIDE * CHANNELS, Channel.OFM)
        return ofm.view(np.int8).reshape(SIDE, SIDE, CHANNELS).copy()

    return run


def layer(seed):
    rng = np.random.default_rng(seed)
    ifm = rng.integers(-12, 2, (SIDE, SIDE, DEPTH), np.int8)
    return ifm, rng.integers(-2, 3, (CHANNELS, 3, 3, DEPTH), np.int8)


def products(ifm, weights):
    """The sums of products, said in the plainest way."""
    centred = np.pad(ifm.astype(int) - ZERO_POINT, ((1, 1), (1, 1), (0, 0)))
    return np.array(
        [
            [
                [(centred[y : y + 3, x : x + 3] * kernel).sum() for kernel in weights.astype(int)]
                for x in range(SIDE)
            ]
            for y in range(SIDE)
        ]
    )


def saturated(sums):
    return np.clip(sums + BIAS, -128, 127)


def test_padding_counts_as_the_zero_point(convolve):
    ifm, weights = layer(1)
    assert np.array_equal(convolve(ifm, weights), saturated(products(ifm, weights)))


def test_sum_in_parts_has_the_zero_point_taken_off_each_part(convolve):
    first, second = layer(1), layer(2)
    convolve(*first, **DISABLE)
    assert np.array_equal(convolve(*second, **KEEP), saturated(products(*first) + products(*second)))


def test_sums_start_from_the_second_input(convolve):
    ifm, weights = layer(1)
    start = np.random.default_rng(3).integers(-150, 150, NOTHING.shape, np.int32)
    assert np.array_equal(
        convolve(ifm, weights, start, **FROM_IFM2), saturated(products(ifm, weights) + start)
    )


@pytest.mark.parametrize(
    ("start", "zero", "reason"),
    [
        (NOTHING, 1, "32 bits that start from IFM2 elements of int32 with the zero point 1"),
        (NOTHING.astype(np.int16), 0, "32 bits that start from IFM2 elements of int16"),
    ],
)
def test_another_start_is_refused(convolve, start, zero, reason):
    with pytest.raises(CommandError, match=reason):
        convolve(*layer(1), start, zero, **FROM_IFM2)


def test_a_start_that_fills_the_accumulators_is_refused(convolve):
    with pytest.raises(CommandError, match="an accumulator passes"):
        convolve(*layer(1), np.full_like(NOTHING, 2**31 - 1), **FROM_IFM2)


def test_layers_show_zero_point_bias_and_saturation():
    sums = products(*layer(1))
    assert (saturated(sums) != sums).any()
    assert len(np.unique(saturated(sums))) > 4
    assert layer(1)[1].astype(int).sum() * ZERO_POINT != 0
