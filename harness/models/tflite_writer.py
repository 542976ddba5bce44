"""Writing a .tflite file from a plain description of its graph.

Tables and fields are those of TensorFlow Lite's schema (package `tflite`, schema.fbs version 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import flatbuffers
import numpy as np
import tflite

from harness.models.tflite_file import FILE_IDENTIFIER, RESOURCE

_SCHEMA_VERSION = 3
_TENSOR_TYPES = {
    "int8": tflite.TensorType.INT8,
    "int16": tflite.TensorType.INT16,
    "int32": tflite.TensorType.INT32,
    RESOURCE: tflite.TensorType.RESOURCE,
}
_WIDEST_DEPRECATED_CODE = 127


@dataclass(frozen=True)
class TensorSpec:
    """One tensor; a constant carries its `data`, little-endian.

    `scales` has no entry for a tensor that is not quantised, one for the whole tensor, or one per index of
    dimension `axis`. A scale must be a float32 exactly.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str  #: "int8", "int16", "int32", or "resource" for what a VAR_HANDLE gives
    scales: tuple[Fraction, ...] = ()
    zero_point: int = 0
    axis: int = 0
    data: bytes | None = None
    is_variable: bool = False  #: keeps what it holds from one inference to the next


@dataclass(frozen=True)
class OperatorSpec:
    """One operator; `kind` is a key of OPERATORS, `options` are fields of its options table."""

    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, int | float | bool | str] = field(default_factory=dict)
    intermediates: tuple[int, ...] = ()  #: tensors whose quantisation the operator takes for steps inside it


@dataclass(frozen=True)
class GraphSpec:
    """A network: operators in the order they run, tensors by index."""

    name: str
    tensors: tuple[TensorSpec, ...]
    operators: tuple[OperatorSpec, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


OPERATORS: Mapping[str, tuple[str, int]] = {
    "ADD": ("AddOptions", 2),
    "ASSIGN_VARIABLE": ("AssignVariableOptions", 1),
    "AVERAGE_POOL_2D": ("Pool2DOptions", 2),
    "CONV_2D": ("Conv2DOptions", 3),
    "DEPTHWISE_CONV_2D": ("DepthwiseConv2DOptions", 3),
    "FULLY_CONNECTED": ("FullyConnectedOptions", 4),
    "READ_VARIABLE": ("ReadVariableOptions", 1),
    "RESHAPE": ("ReshapeOptions", 1),
    "SOFTMAX": ("SoftmaxOptions", 2),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": ("UnidirectionalSequenceLSTMOptions", 1),
    "VAR_HANDLE": ("VarHandleOptions", 1),
}
"""Each operator's options table, and the first version of the operator that takes int8."""


def write_tflite(graph: GraphSpec) -> bytes:
    """The file's bytes: the same for the same graph, in every process and on every machine."""
    builder = flatbuffers.Builder(1 << 16)
    kinds = sorted({operator.kind for operator in graph.operators})
    constants = [tensor.data for tensor in graph.tensors if tensor.data is not None]
    # Buffer 0 is empty by convention: it stands for every tensor that has no data.
    buffers = [_table(builder, "Buffer", {})]
    buffers += [_table(builder, "Buffer", {"Data": _data_vector(builder, data)}) for data in constants]
    subgraph = _table(
        builder,
        "SubGraph",
        {
            "Tensors": _offset_vector(builder, _tensors(builder, graph.tensors)),
            "Inputs": _int_vector(builder, graph.inputs),
            "Outputs": _int_vector(builder, graph.outputs),
            "Operators": _offset_vector(builder, [_operator(builder, kinds, op) for op in graph.operators]),
            "Name": builder.CreateString(graph.name),
        },
    )
    model = _table(
        builder,
        "Model",
        {
            "Version": _SCHEMA_VERSION,
            "OperatorCodes": _offset_vector(builder, [_operator_code(builder, kind) for kind in kinds]),
            "Subgraphs": _offset_vector(builder, [subgraph]),
            "Description": builder.CreateString(graph.name),
            "Buffers": _offset_vector(builder, buffers),
        },
    )
    builder.Finish(model, file_identifier=FILE_IDENTIFIER)
    return bytes(builder.Output())


def _table(builder: Any, table: str, fields: Mapping[str, int | float | bool]) -> int:
    """One table of the schema; fields are scalars or the offsets of what was written before."""
    getattr(tflite, f"{table}Start")(builder)
    for name, value in fields.items():
        getattr(tflite, f"{table}Add{name}")(builder, value)
    # Which tables share a vtable depends on the version of flatbuffers. The file must not: none do.
    builder.vtables.clear()
    return int(getattr(tflite, f"{table}End")(builder))


def _tensors(builder: Any, tensors: Sequence[TensorSpec]) -> list[int]:
    offsets = []
    constants = 0
    for tensor in tensors:
        constants += tensor.data is not None
        fields = {
            "Shape": _int_vector(builder, tensor.shape),
            "Type": _TENSOR_TYPES[tensor.dtype],
            "Buffer": 0 if tensor.data is None else constants,
            "Name": builder.CreateString(tensor.name),
        }
        if tensor.scales:
            fields["Quantization"] = _quantization(builder, tensor)
        if tensor.is_variable:
            fields["IsVariable"] = True
        offsets.append(_table(builder, "Tensor", fields))
    return offsets


def _quantization(builder: Any, tensor: TensorSpec) -> int:
    scales = np.array([float(scale) for scale in tensor.scales], dtype="<f4")
    if any(Fraction(float(stored)) != scale for stored, scale in zip(scales, tensor.scales, strict=True)):
        raise ValueError(f"a scale of tensor {tensor.name!r} is no float32")
    zero_points = np.full(len(tensor.scales), tensor.zero_point, dtype="<i8")
    return _table(
        builder,
        "QuantizationParameters",
        {
            "Scale": builder.CreateNumpyVector(scales),
            "ZeroPoint": builder.CreateNumpyVector(zero_points),
            "QuantizedDimension": tensor.axis,
        },
    )


def _operator(builder: Any, kinds: Sequence[str], operator: OperatorSpec) -> int:
    options_table, _ = OPERATORS[operator.kind]
    options = {
        name: builder.CreateString(value) if isinstance(value, str) else value
        for name, value in operator.options.items()
    }
    fields = {
        "OpcodeIndex": kinds.index(operator.kind),
        "Inputs": _int_vector(builder, operator.inputs),
        "Outputs": _int_vector(builder, operator.outputs),
        "BuiltinOptionsType": getattr(tflite.BuiltinOptions, options_table),
        "BuiltinOptions": _table(builder, options_table, options),
    }
    if operator.intermediates:
        fields["Intermediates"] = _int_vector(builder, operator.intermediates)
    return _table(builder, "Operator", fields)


def _operator_code(builder: Any, kind: str) -> int:
    code, version = getattr(tflite.BuiltinOperator, kind), OPERATORS[kind][1]
    # Readers older than the wide code look at the deprecated one, whose highest stands for all above it.
    deprecated = min(code, _WIDEST_DEPRECATED_CODE)
    return _table(
        builder,
        "OperatorCode",
        {"DeprecatedBuiltinCode": deprecated, "BuiltinCode": code, "Version": version},
    )


def _int_vector(builder: Any, values: Sequence[int]) -> int:
    return int(builder.CreateNumpyVector(np.array(values, dtype="<i4")))


def _data_vector(builder: Any, data: bytes) -> int:
    builder.StartVector(1, len(data), 16)  # the schema wants constants aligned to 16 bytes
    builder.head -= len(data)
    builder.Bytes[builder.head : builder.head + len(data)] = data
    return int(builder.EndVector())


def _offset_vector(builder: Any, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())
