"""Cases that move elements: cutting, joining, padding, permuting, picking, resizing."""

from __future__ import annotations

from typing import Any

import numpy as np
import tflite

from .network import Operator, Tensor
from .sampling import family

DTYPES = ["int8", "int16", "int32"]
QUANTIZATION = {
    "int8": (0.05, 3),
    "int16": (1 / 4096, 0),
    "int32": (0.5, 0),
    "bool": (None, 0),
}
SHAPES = {"hwc": (1, 9, 7, 20), "thin": (1, 4, 33, 3), "batch": (2, 5, 6, 17), "flat": (6, 40)}


def tensor(shape: tuple[int, ...], dtype: str) -> Tensor:
    return Tensor(tuple(map(int, shape)), dtype, *QUANTIZATION[dtype])


def constant(values: Any, dtype: str = "int32") -> Tensor:
    array = np.array(values)
    return Tensor(array.shape, dtype, None, 0, array)


def _resized(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    changed = list(shape)
    changed[axis] = size
    return tuple(changed)


def _has_axis(**row: Any) -> bool:
    return -len(SHAPES[row["shape"]]) <= row["axis"] < len(SHAPES[row["shape"]])


def _concatenation(row: dict[str, Any]) -> Operator:
    shape, axis = SHAPES[row["shape"]], row["axis"]
    sizes = (shape[axis], 2, 16)[: row["parts"]]
    parts = tuple(tensor(_resized(shape, axis, size), row["dtype"]) for size in sizes)
    result = tensor(_resized(shape, axis, sum(sizes)), row["dtype"])
    return Operator("CONCATENATION", parts, (result,), "ConcatenationOptions", {"Axis": axis})


def _split(row: dict[str, Any]) -> Operator:
    shape, axis = _resized(SHAPES[row["shape"]], row["axis"], 12), row["axis"]
    parts = tuple(
        tensor(_resized(shape, axis, 12 // row["parts"]), row["dtype"]) for _ in range(row["parts"])
    )
    source = tensor(shape, row["dtype"])
    return Operator("SPLIT", (constant(axis), source), parts, "SplitOptions", {"NumSplits": row["parts"]})


def _split_v(row: dict[str, Any]) -> Operator:
    shape, axis, sizes = _resized(SHAPES[row["shape"]], row["axis"], 12), row["axis"], (7, 1, 4)
    parts = tuple(tensor(_resized(shape, axis, size), row["dtype"]) for size in sizes)
    inputs = (tensor(shape, row["dtype"]), constant(sizes), constant(axis))
    return Operator("SPLIT_V", inputs, parts, "SplitVOptions", {"NumSplits": len(sizes)})


def _pack(row: dict[str, Any]) -> Operator:
    shape, axis = (9, 7, 20), row["axis"]
    parts = tuple(tensor(shape, row["dtype"]) for _ in range(row["parts"]))
    stacked = (*shape[:axis], row["parts"], *shape[axis:])
    return Operator(
        "PACK",
        parts,
        (tensor(stacked, row["dtype"]),),
        "PackOptions",
        {"ValuesCount": row["parts"], "Axis": axis},
    )


def _unpack(row: dict[str, Any]) -> Operator:
    shape, axis = _resized((3, 5, 6), row["axis"], row["parts"]), row["axis"]
    parts = tuple(tensor((*shape[:axis], *shape[axis + 1 :]), row["dtype"]) for _ in range(row["parts"]))
    options = {"Num": row["parts"], "Axis": axis}
    return Operator("UNPACK", (tensor(shape, row["dtype"]),), parts, "UnpackOptions", options)


def _slice(row: dict[str, Any]) -> Operator:
    shape = SHAPES[row["shape"]]
    begin = [min(row["begin"], n - 1) for n in shape]
    size = [max(1, n - 2 * b) for n, b in zip(shape, begin, strict=True)]
    inputs = (tensor(shape, row["dtype"]), constant(begin), constant(size))
    return Operator("SLICE", inputs, (tensor(tuple(size), row["dtype"]),), "SliceOptions")


def _strided_slice(row: dict[str, Any]) -> Operator:
    shape = (1, 12, 10, 20)
    begin, step = [0, row["begin"], 0, row["begin"]], [1, *row["step"], 1]
    size = [len(range(b, n, s)) for n, b, s in zip(shape, begin, step, strict=True)]
    inputs = (tensor(shape, row["dtype"]), constant(begin), constant(shape), constant(step))
    return Operator("STRIDED_SLICE", inputs, (tensor(tuple(size), row["dtype"]),), "StridedSliceOptions")


def _pad(row: dict[str, Any]) -> Operator:
    shape, amounts = SHAPES[row["shape"]], row["amount"]
    pads = [(0, 0)] * (len(shape) - len(amounts)) + list(amounts)
    result = tuple(n + sum(pad) for n, pad in zip(shape, pads, strict=True))
    return Operator(
        "PAD", (tensor(shape, row["dtype"]), constant(pads)), (tensor(result, row["dtype"]),), "PadOptions"
    )


def _pad_v2(row: dict[str, Any]) -> Operator:
    shape, pads = SHAPES["hwc"], [(0, 0), (1, 2), (0, 3), (0, 0)]
    result = tuple(n + sum(pad) for n, pad in zip(shape, pads, strict=True))
    value = Tensor((1,), row["dtype"], *QUANTIZATION[row["dtype"]], np.array([row["value"]]))
    inputs = (tensor(shape, row["dtype"]), constant(pads), value)
    return Operator("PADV2", inputs, (tensor(result, row["dtype"]),), "PadV2Options")


def _mirror_pad(row: dict[str, Any]) -> Operator:
    shape, pads = (1, 5, 6, 8), row["amount"]
    result = tuple(n + sum(pad) for n, pad in zip(shape, pads, strict=True))
    mode = getattr(tflite.MirrorPadMode, row["mode"])
    inputs = (tensor(shape, row["dtype"]), constant(pads))
    return Operator(
        "MIRROR_PAD",
        inputs,
        (tensor(result, row["dtype"]),),
        "MirrorPadOptions",
        {"Mode": mode},
        definition=lambda values: np.pad(values, pads, row["mode"].lower()),
    )


def _transpose(row: dict[str, Any]) -> Operator:
    shape = (1, 4, 5, 18)[-len(row["order"]) :] if len(row["order"]) < 5 else (2, 3, 4, 5, 6)
    result = tuple(shape[axis] for axis in row["order"])
    inputs = (tensor(shape, row["dtype"]), constant(row["order"]))
    return Operator(
        "TRANSPOSE",
        inputs,
        (tensor(result, row["dtype"]),),
        "TransposeOptions",
        definition=lambda values: values.transpose(row["order"]),
    )


def _reverse(row: dict[str, Any]) -> Operator:
    shape = SHAPES[row["shape"]]
    source = tensor(shape, row["dtype"])
    return Operator("REVERSE_V2", (source, constant([row["axis"]])), (source,), "ReverseV2Options", version=3)


def _gather(row: dict[str, Any]) -> Operator:
    shape, indices = (20, 30), [3, 1, 19, 0, 3, 7, 2]
    result = tensor((len(indices), 30), row["dtype"])
    index = constant(indices) if row["constant"] else Tensor((len(indices),), "int32", None, within=(0, 19))
    return Operator(
        "GATHER",
        (tensor(shape, row["dtype"]), index),
        (result,),
        "GatherOptions",
        definition=lambda values, index=indices: values[index],
    )


def _batch_gather(dtype: str) -> Operator:
    indices = constant([[3, 1, 5], [0, 4, 4]])
    return Operator(
        "GATHER",
        (tensor((2, 6, 9), dtype), indices),
        (tensor((2, 3, 9), dtype),),
        "GatherOptions",
        {"Axis": 1, "BatchDims": 1},
        version=5,
    )


def _scatter(dtype: str) -> Operator:
    indices = constant([[3], [1], [4]])
    inputs = (indices, tensor((3, 30), dtype), constant([6, 30]))

    def definition(updates: np.ndarray) -> np.ndarray:
        result = np.zeros((6, 30), dtype)
        result[indices.data[:, 0]] = updates
        return result

    result = (tensor((6, 30), dtype),)
    return Operator("SCATTER_ND", inputs, result, "ScatterNdOptions", version=1, definition=definition)


def _tile(row: dict[str, Any]) -> Operator:
    shape = SHAPES["hwc"]
    result = tuple(n * m for n, m in zip(shape, row["multiples"], strict=True))
    inputs = (tensor(shape, row["dtype"]), constant(row["multiples"]))
    return Operator(
        "TILE",
        inputs,
        (tensor(result, row["dtype"]),),
        "TileOptions",
        version=3,
        definition=lambda values: np.tile(values, row["multiples"]),
    )


def _reshape(kind: str, table: str, dtype: str) -> Operator:
    source, result = (
        tensor((1, 9, 1, 20), dtype),
        tensor({"SQUEEZE": (9, 20), "EXPAND_DIMS": (1, 1, 9, 1, 20)}.get(kind, (3, 60)), dtype),
    )
    extra = {"EXPAND_DIMS": (constant(0),), "RESHAPE": (constant([3, 60]),)}.get(kind, ())
    return Operator(kind, (source, *extra), (result,), table, version=1)


def _depth_space(kind: str, dtype: str) -> Operator:
    narrow, wide = tensor((1, 8, 6, 5), dtype), tensor((1, 4, 3, 20), dtype)
    ends = (narrow, wide) if kind == "SPACE_TO_DEPTH" else (wide, narrow)
    table = {"SPACE_TO_DEPTH": "SpaceToDepthOptions", "DEPTH_TO_SPACE": "DepthToSpaceOptions"}[kind]
    return Operator(kind, ends[:1], ends[1:], table, {"BlockSize": 2})


def _resize(row: dict[str, Any]) -> Operator:
    (height, width), factor, aligned = row["size"], row["factor"], row["grid"] == "corners"
    size = (
        [(height - 1) * factor + 1, (width - 1) * factor + 1]
        if aligned
        else [height * factor, width * factor]
    )
    options = {"corners": {"AlignCorners": True}, "half": {"HalfPixelCenters": True}, "plain": {}}[
        row["grid"]
    ]
    kind = {"bilinear": "RESIZE_BILINEAR", "nearest": "RESIZE_NEAREST_NEIGHBOR"}[row["op"]]
    table = {"bilinear": "ResizeBilinearOptions", "nearest": "ResizeNearestNeighborOptions"}[row["op"]]
    inputs = (tensor((1, height, width, 20), row["dtype"]), constant(size))
    result = tensor((1, *size, 20), row["dtype"])
    # Of one element every size is a copy, and every operator of its own size.
    copies = (height, width) == (1, 1) or row["factor"] == 1
    definition = (lambda values: np.broadcast_to(values, result.shape)) if copies else None
    return Operator(kind, inputs, (result,), table, options, version=3, definition=definition)


CASES: dict[str, Operator] = {
    **family(
        "concatenation",
        _concatenation,
        {"dtype": DTYPES, "shape": list(SHAPES), "axis": [0, 1, 2, 3, -1], "parts": [2, 3]},
        _has_axis,
    ),
    **family(
        "split",
        _split,
        {"dtype": DTYPES, "shape": list(SHAPES), "axis": [0, 1, 2, 3], "parts": [2, 3]},
        _has_axis,
    ),
    **family(
        "split_v", _split_v, {"dtype": ["int8", "int16"], "shape": list(SHAPES), "axis": [1, 2, 3]}, _has_axis
    ),
    **family("pack", _pack, {"dtype": DTYPES, "axis": [0, 1, 2, 3], "parts": [2, 3]}),
    **family("unpack", _unpack, {"dtype": DTYPES, "axis": [0, 1, 2], "parts": [2, 3]}),
    **family("slice", _slice, {"dtype": DTYPES, "shape": list(SHAPES), "begin": [0, 1, 2]}),
    **family(
        "strided_slice",
        _strided_slice,
        {"dtype": DTYPES, "begin": [0, 1, 3], "step": [(1, 1), (2, 1), (1, 3), (2, 2)]},
    ),
    **family(
        "pad",
        _pad,
        {
            "dtype": DTYPES,
            "shape": list(SHAPES),
            "amount": [((1, 2), (3, 0)), ((0, 1), (2, 2), (0, 0)), ((0, 0), (0, 5))],
        },
        lambda **row: len(row["amount"]) <= len(SHAPES[row["shape"]]),
    ),
    **family("pad_v2", _pad_v2, {"dtype": ["int8", "int16"], "value": [0, 17]}),
    **family(
        "mirror_pad",
        _mirror_pad,
        {
            "dtype": ["int8", "int16"],
            "mode": ["REFLECT", "SYMMETRIC"],
            "amount": [
                ((0, 0), (1, 2), (0, 0), (0, 0)),
                ((0, 0), (2, 1), (1, 3), (0, 0)),
                ((0, 0), (0, 0), (0, 0), (3, 1)),
            ],
        },
    ),
    **family(
        "transpose",
        _transpose,
        {
            "dtype": DTYPES,
            "order": [
                (0, 2, 1, 3),
                (0, 1, 3, 2),
                (0, 3, 2, 1),
                (0, 3, 1, 2),
                (0, 2, 3, 1),
                (1, 0),
                (2, 0, 1),
                (3, 1, 0, 2),
                (4, 0, 3, 1, 2),
            ],
        },
    ),
    **family(
        "reverse_v2",
        _reverse,
        {"dtype": ["int8", "int16"], "shape": list(SHAPES), "axis": [0, 1, 2, 3]},
        _has_axis,
    ),
    **family("gather", _gather, {"dtype": ["int8", "int16"], "constant": [True, False]}),
    "gather batch int8": _batch_gather("int8"),
    **{f"scatter_nd {dtype}": _scatter(dtype) for dtype in ("int8", "int32")},
    **family(
        "tile", _tile, {"dtype": ["int8", "int16"], "multiples": [(1, 2, 1, 1), (1, 1, 3, 2), (2, 1, 1, 1)]}
    ),
    **{
        f"{kind.lower()} {dtype}": _reshape(kind, table, dtype)
        for kind, table in (
            ("RESHAPE", "ReshapeOptions"),
            ("SQUEEZE", "SqueezeOptions"),
            ("EXPAND_DIMS", "ExpandDimsOptions"),
        )
        for dtype in ("int8", "int16")
    },
    **{
        f"{kind.lower()} {dtype}": _depth_space(kind, dtype)
        for kind in ("SPACE_TO_DEPTH", "DEPTH_TO_SPACE")
        for dtype in ("int8",)
    },
    **family(
        "resize",
        _resize,
        {
            "op": ["bilinear", "nearest"],
            "dtype": ["int8", "int16"],
            "size": [(9, 7), (1, 1), (4, 1)],
            "factor": [1, 2, 4, 3, 8],
            "grid": ["plain", "corners", "half"],
        },
        lambda **row: row["factor"] != 3 or row["op"] == "nearest",
    ),
}
"""Every pair of two axes' values is in one of them."""
