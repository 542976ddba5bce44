"""Cases with a kernel: convolutions, fully connected layers, matrix products, pooling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tflite

from .network import Operator, Tensor
from .sampling import family

ACTIVATIONS = {
    name: getattr(tflite.ActivationFunctionType, name) for name in ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
}
PADDINGS = {"same": tflite.Padding.SAME, "valid": tflite.Padding.VALID}
ZERO_POINTS = {"int8": (4, -9), "int16": (0, 0)}
"""Of input and output, by element type: TensorFlow Lite's 16-bit quantisation is symmetric."""


def _input(dtype: str, shape: tuple[int, ...]) -> Tensor:
    return Tensor(shape, dtype, 0.03 if dtype != "int16" else 1 / 8192, ZERO_POINTS[dtype][0])


def _output(dtype: str, shape: tuple[int, ...], products: int) -> Tensor:
    """Return an output whose range suits sums of `products` products, some of them beyond it."""
    scale = 0.03 * 0.02 * 40 * math.sqrt(products) / (1 if dtype != "int16" else 150)
    return Tensor(shape, dtype, scale, ZERO_POINTS[dtype][1])


def _weights(shape: tuple[int, ...], axis: int, *, per_channel: bool, sparse: bool = False) -> Tensor:
    generator = np.random.default_rng(math.prod(shape))
    values = generator.integers(-127, 128, shape)
    if sparse:
        values[..., ::2] = 0
    scales = tuple(0.02 / (1 + index % 5) for index in range(shape[axis])) if per_channel else 0.02
    return Tensor(shape, "int8", scales, 0, values, axis)


def _bias(weights: Tensor, dtype: str, channels: int, input_scale: float) -> Tensor:
    scale = tuple(input_scale * s for s in np.atleast_1d(weights.scale))
    values = np.random.default_rng(channels).integers(-3000, 3000, channels)
    width = "int64" if dtype == "int16" else "int32"
    return Tensor((channels,), width, scale if len(scale) > 1 else scale[0], 0, values)


def _extent(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    span = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding == "same" else (size - span) // stride + 1


def _outer(
    size: tuple[int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    padding: str,
) -> tuple[int, int]:
    height, width = (
        _extent(*arguments, padding) for arguments in zip(size, kernel, stride, dilation, strict=True)
    )
    return height, width


def exists(**row: Any) -> bool:
    """Return whether runtime and compiler take such a kernel."""
    size = _outer(row["size"], row["k"], row["s"], row.get("d", (1, 1)), row["padding"])
    # The runtime and the compiler both refuse a kernel that moves while it is dilated.
    return min(size) > 0 and (row.get("d", (1, 1)) == (1, 1) or row["s"] == (1, 1))


def _window_options(row: dict[str, Any]) -> dict[str, int]:
    height, width = row["s"]
    options = {"Padding": PADDINGS[row["padding"]], "StrideH": height, "StrideW": width}
    return options | {"FusedActivationFunction": ACTIVATIONS[row["act"]]}


def _dilation_options(row: dict[str, Any]) -> dict[str, int]:
    height, width = row["d"]
    return {"DilationHFactor": height, "DilationWFactor": width}


def _convolution(row: dict[str, Any]) -> Operator:
    dtype, (depth, channels) = row["dtype"], row["c"]
    source = _input(dtype, (1, *row["size"], depth))
    weights = _weights((channels, *row["k"], depth), 0, per_channel=row["per-channel"])
    size = _outer(row["size"], row["k"], row["s"], row["d"], row["padding"])
    return Operator(
        "CONV_2D",
        (source, weights, _bias(weights, dtype, channels, source.scale)),
        (_output(dtype, (1, *size, channels), math.prod(row["k"]) * depth),),
        "Conv2DOptions",
        _window_options(row) | _dilation_options(row),
        version=5,
    )


def _depthwise(row: dict[str, Any]) -> Operator:
    dtype, (depth, multiplier) = row["dtype"], row["c"]
    channels = depth * multiplier
    source = _input(dtype, (1, *row["size"], depth))
    weights = _weights((1, *row["k"], channels), 3, per_channel=row["per-channel"])
    size = _outer(row["size"], row["k"], row["s"], row["d"], row["padding"])
    return Operator(
        "DEPTHWISE_CONV_2D",
        (source, weights, _bias(weights, dtype, channels, source.scale)),
        (_output(dtype, (1, *size, channels), math.prod(row["k"])),),
        "DepthwiseConv2DOptions",
        _window_options(row) | _dilation_options(row) | {"DepthMultiplier": multiplier},
        version=3,
    )


def _transposed(row: dict[str, Any]) -> Operator:
    dtype, (depth, channels) = row["dtype"], row["c"]
    source = _input(dtype, (1, *row["size"], depth))
    weights = _weights((channels, *row["k"], depth), 0, per_channel=row["per-channel"])
    height, width = (
        n * s + (0 if row["padding"] == "same" else k - s)
        for n, s, k in zip(row["size"], row["s"], row["k"], strict=True)
    )
    shape = np.array([1, height, width, channels])
    bias = (_bias(weights, dtype, channels, source.scale),) if row["bias"] else ()
    return Operator(
        "TRANSPOSE_CONV",
        (Tensor((4,), "int32", None, 0, shape), weights, source, *bias),
        (_output(dtype, tuple(map(int, shape)), depth * 4),),
        "TransposeConvOptions",
        {
            key: value
            for key, value in _window_options(row | {"act": "NONE"}).items()
            if key != "FusedActivationFunction"
        },
        version=3,
    )


def _fully_connected(row: dict[str, Any]) -> Operator:
    dtype, (batch, depth, channels) = row["dtype"], row["c"]
    source = _input(dtype, (batch, depth))
    weights = _weights((channels, depth), 0, per_channel=False, sparse=row["sparse"])
    bias = _bias(weights, dtype, channels, source.scale) if row["bias"] else None
    return Operator(
        "FULLY_CONNECTED",
        (source, weights, bias),
        (_output(dtype, (batch, channels), depth),),
        "FullyConnectedOptions",
        {"FusedActivationFunction": ACTIVATIONS[row["act"]]},
        version=7,
    )


def _matmul(row: dict[str, Any]) -> Operator:
    dtype, (batch, rows, depth, columns) = row["dtype"], row["c"]
    left = (batch, depth, rows) if row["adj-x"] else (batch, rows, depth)
    right = (batch, columns, depth) if row["adj-y"] else (batch, depth, columns)
    second = Tensor(right, dtype, 0.02 if dtype == "int8" else 1 / 16384, 0 if dtype == "int16" else -3)
    scale = 0.4 if dtype == "int8" else 1 / 2048
    return Operator(
        "BATCH_MATMUL",
        (_input(dtype, left), second),
        (Tensor((batch, rows, columns), dtype, scale, 0 if dtype == "int16" else 5),),
        "BatchMatMulOptions",
        {"AdjX": row["adj-x"], "AdjY": row["adj-y"]},
        version=4,
    )


def _pool(row: dict[str, Any]) -> Operator:
    dtype = row["dtype"]
    zero_point = ZERO_POINTS[dtype][0]
    size = _outer(row["size"], row["k"], row["s"], (1, 1), row["padding"])
    height, width = row["k"]
    return Operator(
        f"{row['op']}_POOL_2D",
        (Tensor((1, *row["size"], row["c"]), dtype, 0.05, zero_point),),
        (Tensor((1, *size, row["c"]), dtype, 0.05, zero_point),),
        "Pool2DOptions",
        _window_options(row) | {"FilterHeight": height, "FilterWidth": width},
        version=3,
    )


BUILDERS = {
    "conv_2d": _convolution,
    "depthwise_conv_2d": _depthwise,
    "transpose_conv": _transposed,
    "fully_connected": _fully_connected,
    "batch_matmul": _matmul,
    "pool": _pool,
}
"""What makes an operator of the row of its parameters."""

_KERNEL_AXES = {
    "size": [(9, 7), (5, 12), (16, 16)],
    "s": [(1, 1), (2, 2), (3, 1), (1, 3), (4, 5)],
    "d": [(1, 1), (2, 2), (1, 3), (4, 4)],
    "padding": list(PADDINGS),
    "act": list(ACTIVATIONS),
    "per-channel": [True, False],
}

CASES: dict[str, Operator] = {
    **family(
        "conv_2d",
        _convolution,
        {
            "dtype": ["int8", "int16"],
            "c": [(3, 8), (20, 33), (64, 16), (1, 5)],
            "k": [(1, 1), (3, 3), (2, 5), (9, 1)],
            **_KERNEL_AXES,
        },
        exists,
    ),
    **family(
        "depthwise_conv_2d",
        _depthwise,
        {
            "dtype": ["int8", "int16"],
            "c": [(20, 1), (3, 4), (1, 9), (40, 1)],
            "k": [(1, 1), (3, 3), (2, 5), (9, 1)],
            **_KERNEL_AXES,
        },
        exists,
    ),
    **family(
        "transpose_conv",
        _transposed,
        {
            "dtype": ["int8", "int16"],
            "c": [(3, 8), (20, 17)],
            "size": [(5, 4), (1, 9)],
            "k": [(2, 2), (3, 3), (4, 2)],
            "s": [(1, 1), (2, 2), (2, 1)],
            "padding": list(PADDINGS),
            "per-channel": [True, False],
            "bias": [True, False],
        },
    ),
    **family(
        "fully_connected",
        _fully_connected,
        {
            "dtype": ["int8", "int16"],
            "c": [(1, 64, 10), (3, 17, 33), (1, 256, 128)],
            "act": list(ACTIVATIONS),
            "bias": [True, False],
            "sparse": [True, False],
        },
    ),
    **family(
        "batch_matmul",
        _matmul,
        {
            "dtype": ["int8", "int16"],
            "c": [(1, 6, 16, 9), (3, 5, 33, 20), (1, 2, 70000, 3)],
            "adj-x": [True, False],
            "adj-y": [True, False],
        },
    ),
    **family(
        "pool",
        _pool,
        {
            "op": ["MAX", "AVERAGE"],
            "dtype": ["int8", "int16"],
            "size": [(9, 7), (16, 16)],
            "c": [3, 20],
            "k": [(2, 2), (3, 3), (1, 5), (9, 7)],
            "s": [(1, 1), (2, 2), (3, 1), (4, 4), (1, 6)],
            "padding": list(PADDINGS),
            "act": list(ACTIVATIONS),
        },
        exists,
    ),
}
"""Every pair of two axes' values is in one of them."""

_DEEP_AND_STRIDED = {
    "dtype": "int8", "c": (100, 1), "size": (8, 9), "k": (3, 3), "s": (1, 4), "d": (1, 1),
    "padding": "same", "act": "NONE", "per-channel": True,
}  # fmt: skip
CASES["depthwise_conv_2d c:100x1 s:1x4"] = _depthwise(_DEEP_AND_STRIDED)
