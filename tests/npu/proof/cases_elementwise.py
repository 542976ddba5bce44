"""Cases without a kernel: arithmetic, comparisons and logic of two operands, functions of one, selection."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import tflite

from .network import Operator, Tensor
from .sampling import family

ACTIVATIONS = {
    name: getattr(tflite.ActivationFunctionType, name) for name in ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
}
SHAPE = (1, 9, 7, 20)

BROADCASTS = {
    "none": (SHAPE, SHAPE),
    "channels": (SHAPE, (1, 1, 1, 20)),
    "rows": (SHAPE, (1, 9, 1, 1)),
    "columns-left": ((1, 1, 7, 1), SHAPE),
    "scalar": (SHAPE, (1,)),
    "scalar-left": ((1, 1, 1, 1), SHAPE),
    "both": ((1, 9, 1, 20), (1, 1, 7, 20)),
    "batch": ((3, 5, 20), (1, 5, 20)),
}

LEFT = {"int8": (0.05, 3), "uint8": (0.05, 131), "int16": (1 / 4096, 0), "int32": (1.0, 0)}
RIGHT = {"int8": (0.031, -5), "int16": (1 / 5000, 0), "int32": (1.0, 0)}
RESULT = {"int8": (0.07, 7), "int16": (1 / 3000, 0), "int32": (1.0, 0)}
"""Scale and zero point of the operands and of the result, by element type."""


def _tensor(shape: tuple[int, ...], dtype: str, quantization: dict[str, tuple[float, int]]) -> Tensor:
    return Tensor(shape, dtype, *quantization.get(dtype, (None, 0)))


def _constant(tensor: Tensor) -> Tensor:
    limits = np.iinfo(tensor.dtype)
    low, high = (limits.min, limits.max) if tensor.dtype != "int32" else (-1000, 1000)
    values = np.random.default_rng(len(tensor.shape)).integers(low, high, tensor.shape)
    return Tensor(tensor.shape, tensor.dtype, tensor.scale, tensor.zero_point, values)


def _operands(row: dict[str, Any], right: dict[str, tuple[float, int]]) -> tuple[Tensor, Tensor]:
    shapes = BROADCASTS[row["broadcast"]]
    first, second = _tensor(shapes[0], row["dtype"], LEFT), _tensor(shapes[1], row["dtype"], right)
    return first, _constant(second) if row["constant"] else second


def _outer_shape(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(map(int, np.broadcast_shapes(*BROADCASTS[row["broadcast"]])))


_DEFINITIONS = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply}


def _defined(operation: Callable[..., np.ndarray], operands: tuple[Tensor, ...]) -> Callable[..., np.ndarray]:
    """Return the definition of an operator, the constants among its operands filled in."""

    def compute(*arguments: np.ndarray) -> np.ndarray:
        given = iter(arguments)
        return operation(*(next(given) if tensor.data is None else tensor.data for tensor in operands))

    return compute


def _arithmetic(row: dict[str, Any]) -> Operator:
    operands = _operands(row, RIGHT)
    name = row["op"].capitalize()
    fused = {"FusedActivationFunction": ACTIVATIONS[row["act"]]} if row["act"] != "NONE" else {}
    return Operator(
        row["op"],
        operands,
        (_tensor(_outer_shape(row), row["dtype"], RESULT),),
        f"{name}Options",
        fused,
        definition=_defined(_DEFINITIONS[row["op"]], operands) if row["dtype"] == "int32" else None,
    )


def _arithmetic_exists(**row: Any) -> bool:
    # 32-bit operands are not quantised, so an activation's bounds have no meaning for them.
    return row["dtype"] != "int32" or row["act"] == "NONE"


def _extremum(row: dict[str, Any]) -> Operator:
    result = _tensor(_outer_shape(row), row["dtype"], LEFT)
    return Operator(row["op"], _operands(row, LEFT), (result,), "MaximumMinimumOptions", version=2)


def _squared_difference(row: dict[str, Any]) -> Operator:
    result = _tensor(_outer_shape(row), row["dtype"], RESULT)
    return Operator("SQUARED_DIFFERENCE", _operands(row, RIGHT), (result,), "SquaredDifferenceOptions")


_COMPARISONS = {
    kind: "".join(word.capitalize() for word in kind.split("_")) + "Options"
    for kind in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
}


def _comparison(row: dict[str, Any]) -> Operator:
    result = Tensor(_outer_shape(row), "bool", None)
    return Operator(row["op"], _operands(row, RIGHT), (result,), _COMPARISONS[row["op"]])


def _logic(row: dict[str, Any]) -> Operator:
    shapes = BROADCASTS[row["broadcast"]]
    result = Tensor(_outer_shape(row), "bool", None)
    table = f"Logical{row['op'].split('_')[1].capitalize()}Options"
    operands = tuple(Tensor(shape, "bool", None) for shape in shapes)
    return Operator(row["op"], operands, (result,), table, version=1)


def _select(row: dict[str, Any]) -> Operator:
    condition = Tensor(SHAPE if row["condition"] == "full" else (1, 9, 7, 1), "bool", None)
    values = tuple(_tensor(SHAPE, row["dtype"], LEFT) for _ in range(2))
    definition = np.where if row["dtype"] == "int32" else None
    tensors = (condition, *values), values[:1]
    return Operator("SELECT_V2", *tensors, "SelectV2Options", version=1, definition=definition)


_SMALL_RESULT = {"int8": (0.02, 4), "int16": (1 / 6000, 0)}
_FUNCTIONS: dict[str, tuple[tuple[str, ...], str, int, dict[str, tuple[float, int]]]] = {
    "ABS": (("int8", "int16"), "AbsOptions", 2, RESULT),
    "NEG": (("int8",), "NegOptions", 2, LEFT),
    "EXP": (("int8", "int16"), "ExpOptions", 2, RESULT),
    "LOG": (("int8",), "", 2, _SMALL_RESULT),
    "RSQRT": (("int8", "int16"), "", 2, _SMALL_RESULT),
    "ELU": (("int8",), "", 1, RESULT),
    "GELU": (("int8",), "GeluOptions", 2, RESULT),
    "HARD_SWISH": (("int8",), "HardSwishOptions", 1, RESULT),
    "RELU": (("int8", "int16"), "", 2, RESULT),
    "RELU6": (("int8", "int16"), "", 2, LEFT),
    "RELU_N1_TO_1": (("int8",), "", 2, RESULT),
    "RELU_0_TO_1": (("int8",), "", 2, RESULT),
    "LOGISTIC": (("int8", "uint8"), "", 2, {"int8": (1 / 256, -128), "uint8": (1 / 256, 0)}),
    "TANH": (("int8",), "", 2, {"int8": (1 / 128, 0)}),
    "LOGICAL_NOT": (("bool",), "LogicalNotOptions", 1, {}),
}
"""Each function's element types, options table, version, and scale and zero point of its result."""


_POSITIVE = {"int8": (LEFT["int8"][1] + 1, 127), "int16": (1, 32767)}
"""What may go into functions that have no value for others: tflite-micro refuses RSQRT of them."""

_REAL_FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "NEG": np.negative,
    "EXP": np.exp,
    "LOG": np.log,
    "GELU": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)),
    "RELU_N1_TO_1": lambda x: np.clip(x, -1, 1),
    "RELU_0_TO_1": lambda x: np.clip(x, 0, 1),
}
"""Functions that tflite-micro has no quantised kernel for, or not for every element type."""


def _function(kind: str, dtype: str) -> Operator:
    _, table, version, results = _FUNCTIONS[kind]
    source = _tensor(SHAPE, dtype, LEFT)
    if kind in ("LOG", "RSQRT"):
        source = replace(source, within=_POSITIVE[dtype])
    result = _tensor(SHAPE, dtype, results)
    real = _REAL_FUNCTIONS.get(kind)
    definition = None if real is None else _rounded(real, source, result)
    return Operator(kind, (source,), (result,), table, version=version, definition=definition)


def _rounded(
    real: Callable[[np.ndarray], np.ndarray], source: Tensor, result: Tensor
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function of real numbers as one of quantised ones: the nearest that there is."""

    def compute(values: np.ndarray) -> np.ndarray:
        exact = real((values.astype(np.float64) - source.zero_point) * np.float32(source.scale))
        quantised = np.round(exact / np.float32(result.scale)) + result.zero_point
        limits = np.iinfo(result.dtype)
        return np.clip(quantised, limits.min, limits.max).astype(result.dtype)

    return compute


def _word_function(kind: str, scale: float) -> Operator:
    return Operator(kind, (Tensor(SHAPE, "int16", scale),), (Tensor(SHAPE, "int16", 1 / 32768),))


def _division() -> Operator:
    """Return a quotient, rounded towards zero."""
    divisors = np.array([n for n in range(-73, 67, 7) if n]).reshape(1, 1, 1, -1)
    operands = Tensor(SHAPE, "int32", 1.0), Tensor(divisors.shape, "int32", 1.0, 0, divisors)
    return Operator(
        "DIV",
        operands,
        (Tensor(SHAPE, "int32", 1.0),),
        "DivOptions",
        definition=_defined(lambda a, b: np.trunc(a / b).astype(np.int32), operands),
    )


def _leaky(dtype: str, alpha: float, result: dict[str, tuple[float, int]]) -> Operator:
    tensors = (_tensor(SHAPE, dtype, LEFT),), (_tensor(SHAPE, dtype, result),)
    return Operator("LEAKY_RELU", *tensors, "LeakyReluOptions", {"Alpha": alpha})


def _prelu(shape: tuple[int, ...], low: int) -> Operator:
    values = np.random.default_rng(4).integers(low, 128, shape)
    slopes = Tensor(shape, "int8", 0.01, 0, values)
    return Operator(
        "PRELU", (_tensor(SHAPE, "int8", LEFT), slopes), (_tensor(SHAPE, "int8", RESULT),), version=1
    )


def _quantize(source: Tensor, target: Tensor) -> Operator:
    return Operator("QUANTIZE", (source,), (target,), "QuantizeOptions", version=2)


def _cast(source: str, target: str) -> Operator:
    codes = {
        f"{end}DataType": getattr(tflite.TensorType, dtype.upper())
        for end, dtype in (("In", source), ("Out", target))
    }
    tensors = (Tensor(SHAPE, source, 1.0),), (Tensor(SHAPE, target, 1.0),)
    return Operator(
        "CAST", *tensors, "CastOptions", codes, version=1, definition=lambda values: values.astype(target)
    )


_BROADCAST_AXES = {"broadcast": list(BROADCASTS), "constant": [False, True]}

CASES: dict[str, Operator] = {
    **family(
        "arithmetic",
        _arithmetic,
        {
            "op": ["ADD", "SUB", "MUL"],
            "dtype": ["int8", "int16", "int32"],
            "act": list(ACTIVATIONS),
            **_BROADCAST_AXES,
        },
        _arithmetic_exists,
    ),
    **family(
        "extremum",
        _extremum,
        {"op": ["MINIMUM", "MAXIMUM"], "dtype": ["int8", "int16", "int32"], **_BROADCAST_AXES},
    ),
    **family(
        "squared_difference",
        _squared_difference,
        {"dtype": ["int8"], "broadcast": list(BROADCASTS), "constant": [False]},
    ),
    **family(
        "comparison",
        _comparison,
        {
            "op": list(_COMPARISONS),
            "dtype": ["int8", "int32"],
            "broadcast": ["none", "rows", "scalar", "both"],
            "constant": [False, True],
        },
    ),
    **family(
        "logic",
        _logic,
        {"op": ["LOGICAL_AND", "LOGICAL_OR"], "broadcast": ["none", "channels", "scalar", "both"]},
    ),
    **family("select", _select, {"dtype": ["int8", "int16", "int32"], "condition": ["full", "broadcast"]}),
    **{
        f"{kind.lower()} dtype:{dtype}": _function(kind, dtype)
        for kind, (dtypes, *_) in _FUNCTIONS.items()
        for dtype in dtypes
    },
    "logistic dtype:int16 scale:1/4096": _word_function("LOGISTIC", 1 / 4096),
    "logistic dtype:int16 scale:1/5000": _word_function("LOGISTIC", 1 / 5000),
    "tanh dtype:int16 scale:1/4096": _word_function("TANH", 1 / 4096),
    "tanh dtype:int16 scale:1/5000": _word_function("TANH", 1 / 5000),
    "div dtype:int32": _division(),
    "leaky_relu dtype:int8": _leaky("int8", 0.1, RESULT),
    "leaky_relu dtype:int8 same-scale": _leaky("int8", 0.1, LEFT),
    "leaky_relu dtype:int8 negative-slope": _leaky("int8", -0.5, RESULT),
    "leaky_relu dtype:int16": _leaky("int16", 0.1, RESULT),
    "leaky_relu dtype:int16 steep": _leaky("int16", 1.5, RESULT),
    "prelu dtype:int8": _prelu((1, 1, 20), 0),
    "prelu dtype:int8 negative-slopes": _prelu((1, 1, 20), -128),
    "prelu dtype:int8 one-slope": _prelu((1, 1, 1), 0),
    **{
        f"quantize {source.dtype}-{target.dtype}": _quantize(source, target)
        for source, target in (
            (Tensor(SHAPE, "int8", 0.05, 3), Tensor(SHAPE, "int8", 0.07, -5)),
            (Tensor(SHAPE, "int8", 0.05, 3), Tensor(SHAPE, "int16", 1 / 4096)),
            (Tensor(SHAPE, "int8", 0.05, 3), Tensor(SHAPE, "uint8", 0.05, 131)),
            (Tensor(SHAPE, "uint8", 0.05, 131), Tensor(SHAPE, "int8", 0.05, 3)),
            (Tensor(SHAPE, "int16", 1 / 4096), Tensor(SHAPE, "int8", 0.07, -5)),
            (Tensor(SHAPE, "int16", 1 / 4096), Tensor(SHAPE, "int16", 1 / 5000)),
            (Tensor(SHAPE, "int8", 0.05, 3), Tensor(SHAPE, "int32", 0.001)),
            (Tensor(SHAPE, "int16", 1 / 4096), Tensor(SHAPE, "int32", 1 / 70000)),
        )
    },
    **{
        f"cast {source}-{target}": _cast(source, target)
        for source, target in (
            ("int8", "int32"),
            ("int8", "int16"),
            ("int32", "int8"),
            ("int16", "int32"),
            ("uint8", "int32"),
            ("bool", "int8"),
        )
    },
}
"""Every pair of two axes' values is in one of them."""
