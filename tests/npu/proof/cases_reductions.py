"""Cases that make fewer elements of many: sums, means, extrema, the place of a maximum, softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tflite

from .cases_layout import constant, tensor
from .network import Operator, Tensor
from .sampling import family

SHAPES = {"hwc": (1, 9, 7, 20), "big": (1, 32, 30, 5), "flat": (1, 1, 1, 90), "three": (5, 6, 17)}
AXES = [(1, 2), (1,), (2,), (3,), (-1,), (1, 2, 3)]


def _reduced(shape: tuple[int, ...], axes: tuple[int, ...], keep: bool) -> tuple[int, ...]:
    gone = {axis % len(shape) for axis in axes}
    kept = [1 if axis in gone else n for axis, n in enumerate(shape) if keep or axis not in gone]
    return tuple(kept) or (1,)


def _exists(**row: Any) -> bool:
    return max(row["axes"]) < len(SHAPES[row["shape"]])


def _reduction(row: dict[str, Any]) -> Operator:
    shape, dtype = SHAPES[row["shape"]], row["dtype"]
    if row["op"] in ("MEAN", "SUM"):
        scale = {"int8": 0.03, "int16": 1 / 6000}[dtype] * (20 if row["op"] == "SUM" else 1)
        result = Tensor(_reduced(shape, row["axes"], row["keep"]), dtype, scale, -4 if dtype == "int8" else 0)
    else:
        result = tensor(_reduced(shape, row["axes"], row["keep"]), dtype)
    inputs = (tensor(shape, dtype), constant(row["axes"]))
    keep = {"KeepDims": row["keep"]}
    return Operator(row["op"], inputs, (result,), "ReducerOptions", keep, definition=_definition(row))


_DEFINITIONS = {"REDUCE_MAX": np.max, "REDUCE_MIN": np.min, "REDUCE_ANY": np.any, "REDUCE_ALL": np.all}


def _definition(row: dict[str, Any]) -> Callable[..., np.ndarray] | None:
    """Return what tflite-micro lacks: it has extrema of 8 bits, and of truth values only REDUCE_ALL."""
    operation = _DEFINITIONS.get(row["op"])
    if operation is None or row["dtype"] == "int8":
        return None
    return lambda values: operation(values, axis=row["axes"], keepdims=row["keep"])


def _arg_max(row: dict[str, Any]) -> Operator:
    shape = (1, 9, 7, row["depth"])
    result = Tensor(_reduced(shape, (row["axis"],), False), row["result"], None)
    code = getattr(tflite.TensorType, row["result"].upper())
    inputs = (tensor(shape, row["dtype"]), constant([row["axis"]]))
    return Operator(
        "ARG_MAX",
        inputs,
        (result,),
        "ArgMaxOptions",
        {"OutputType": code},
        definition=lambda values: values.argmax(row["axis"]),
    )


def _softmax(row: dict[str, Any]) -> Operator:
    results = {"int8": (1 / 256, -128), "int16": (1 / 32768, 0)}
    source = Tensor(row["shape"], row["dtype"], row["scale"], 3 if row["dtype"] == "int8" else 0)
    scale, zero_point = results[row["result"]]
    if row["dtype"] != row["result"]:
        zero_point = -32768  # what tflite-micro wants of a softmax that widens
    result = Tensor(row["shape"], row["result"], scale, zero_point)
    return Operator("SOFTMAX", (source,), (result,), "SoftmaxOptions", {"Beta": 1.0})


CASES: dict[str, Operator] = {
    **family(
        "reduction",
        _reduction,
        {
            "op": ["MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"],
            "dtype": ["int8", "int16"],
            "shape": list(SHAPES),
            "axes": AXES,
            "keep": [True, False],
        },
        _exists,
    ),
    **family(
        "reduction",
        _reduction,
        {
            "op": ["REDUCE_ANY", "REDUCE_ALL"],
            "dtype": ["bool"],
            "shape": ["hwc", "flat"],
            "axes": [(1, 2), (3,)],
            "keep": [True],
        },
    ),
    **family(
        "arg_max",
        _arg_max,
        {"dtype": ["int8", "int16"], "axis": [3, 2, 1], "depth": [2, 20, 200], "result": ["int32", "int64"]},
    ),
    **family(
        "softmax",
        _softmax,
        {
            "dtype": ["int8", "int16"],
            "result": ["int8", "int16"],
            "shape": [(1, 10), (1, 9, 7, 20), (3, 128)],
            "scale": [0.05, 0.2],
        },
        lambda **row: row["dtype"] == "int8" or row["result"] == "int16",
    ),
    "softmax dtype:int16 many rows": _softmax(
        {"dtype": "int16", "result": "int16", "shape": (1, 30, 30, 20), "scale": 1 / 4096}
    ),
}
"""Every pair of two axes' values is in one of them."""
