"""A .tflite file of one operator: its tensors, its options, and the bytes they make.

Tables and fields are those of TensorFlow Lite's schema (package `tflite`, schema.fbs version 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite

_SCHEMA_VERSION = 3
_WIDEST_DEPRECATED_CODE = 127


@dataclass(frozen=True)
class Tensor:
    """One tensor: an input or an output, or a constant when it has `data`.

    `scale` is None for a tensor that is not quantised, and a tuple for one scale per index along `axis`.
    """

    shape: tuple[int, ...]
    dtype: str = "int8"
    scale: float | tuple[float, ...] | None = 0.05
    zero_point: int = 0
    data: np.ndarray | None = None
    axis: int = 0
    within: tuple[int, int] | None = None  #: lowest and highest number of samples; None for the whole range


@dataclass(frozen=True)
class Operator:
    """The one operator of a network; an input that is None is one the operator can do without.

    `options` are the fields of its options table.
    """

    kind: str
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor, ...]
    table: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    version: int = 2
    definition: Callable[..., np.ndarray] | None = None  #: in numpy, where tflite-micro lacks the operator

    @property
    def arguments(self) -> tuple[Tensor, ...]:
        """The inputs that a sample has values for."""
        return tuple(tensor for tensor in self.inputs if tensor is not None and tensor.data is None)


def write_model(operator: Operator) -> bytes:
    """Return the file's bytes."""
    builder = flatbuffers.Builder(0)
    inputs = [tensor for tensor in operator.inputs if tensor is not None]
    tensors = [*inputs, *operator.outputs]
    places = iter(range(len(inputs)))
    given = [-1 if tensor is None else next(places) for tensor in operator.inputs]
    results = range(len(inputs), len(tensors))
    buffers = [_table(builder, "Buffer"), *(_buffer(builder, tensor) for tensor in tensors)]
    written = [_tensor(builder, tensor, index) for index, tensor in enumerate(tensors)]
    subgraph = _table(
        builder,
        "SubGraph",
        Operators=_offsets(builder, [_operator(builder, operator, given, results)]),
        Tensors=_offsets(builder, written),
        Inputs=_integers(builder, [index for index, tensor in enumerate(inputs) if tensor.data is None]),
        Outputs=_integers(builder, results),
    )
    model = _table(
        builder,
        "Model",
        Version=_SCHEMA_VERSION,
        OperatorCodes=_offsets(builder, [_operator_code(builder, operator)]),
        Subgraphs=_offsets(builder, [subgraph]),
        Buffers=_offsets(builder, buffers),
    )
    builder.Finish(model, file_identifier=b"TFL3")
    return bytes(builder.Output())


def _table(builder: Any, kind: str, **fields: Any) -> int:
    """Write a table.  A field that is a list becomes a vector first, as tables cannot be nested."""
    values = {
        name: _integers(builder, value) if isinstance(value, list) else value
        for name, value in fields.items()
    }
    getattr(tflite, f"{kind}Start")(builder)
    for name, value in values.items():
        getattr(tflite, f"{kind}Add{name}")(builder, value)
    return int(getattr(tflite, f"{kind}End")(builder))


def _offsets(builder: Any, values: list[int]) -> int:
    builder.StartVector(4, len(values), 4)
    for value in reversed(values):
        builder.PrependUOffsetTRelative(value)
    return int(builder.EndVector())


def _integers(builder: Any, values: Iterable[int]) -> int:
    return int(builder.CreateNumpyVector(np.array(list(values), "<i4")))


def _buffer(builder: Any, tensor: Tensor) -> int:
    if tensor.data is None:
        return _table(builder, "Buffer")
    data = tensor.data.astype(np.dtype(tensor.dtype).newbyteorder("<")).tobytes()
    builder.StartVector(1, len(data), 16)  # the schema wants constants aligned to 16 bytes
    builder.head -= len(data)
    builder.Bytes[builder.head : builder.head + len(data)] = data
    return _table(builder, "Buffer", Data=builder.EndVector())


def _tensor(builder: Any, tensor: Tensor, index: int) -> int:
    fields = {
        "Shape": _integers(builder, tensor.shape),
        "Type": getattr(tflite.TensorType, tensor.dtype.upper()),
        "Buffer": index + 1,
        "Name": builder.CreateString(f"t{index}"),
    }
    if tensor.scale is not None:
        scales = np.atleast_1d(np.array(tensor.scale, "<f4"))
        fields["Quantization"] = _table(
            builder,
            "QuantizationParameters",
            Scale=builder.CreateNumpyVector(scales),
            ZeroPoint=builder.CreateNumpyVector(np.full(len(scales), tensor.zero_point, "<i8")),
            QuantizedDimension=tensor.axis,
        )
    return _table(builder, "Tensor", **fields)


def _operator_code(builder: Any, operator: Operator) -> int:
    code = getattr(tflite.BuiltinOperator, operator.kind)
    deprecated = min(code, _WIDEST_DEPRECATED_CODE)
    return _table(
        builder,
        "OperatorCode",
        DeprecatedBuiltinCode=deprecated,
        BuiltinCode=code,
        Version=operator.version,
    )


def _operator(builder: Any, operator: Operator, inputs: Iterable[int], outputs: Iterable[int]) -> int:
    fields = {"Inputs": _integers(builder, inputs), "Outputs": _integers(builder, outputs)}
    if operator.table:
        fields["BuiltinOptions"] = _table(builder, operator.table, **operator.options)
        fields["BuiltinOptionsType"] = getattr(tflite.BuiltinOptions, operator.table)
    return _table(builder, "Operator", OpcodeIndex=0, **fields)
