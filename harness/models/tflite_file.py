"""What a .tflite file says: its tensors, its operators, and which tensors go in and come out."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import tflite

from harness.errors import ModelError
from harness.models.compiled import Quantization

FILE_IDENTIFIER = b"TFL3"  #: bytes 4 to 7 of every .tflite file
RESOURCE = "resource"  #: type of the tensors that stand for a variable, and hold nothing themselves
VARIABLE_OPERATOR = "VAR_HANDLE"  #: gives such a tensor for the variable of a name
_TYPE_NAMES = {code: name.lower() for name, code in vars(tflite.TensorType).items() if isinstance(code, int)}
_OPERATOR_NAMES = {code: name for name, code in vars(tflite.BuiltinOperator).items() if isinstance(code, int)}


@dataclass(frozen=True)
class FileTensor:
    """One tensor of the file.

    `shape_signature` repeats `shape` with -1 for every dimension the converter left open; it may be empty.
    """

    name: str
    shape: tuple[int, ...]
    shape_signature: tuple[int, ...]
    dtype: str  #: lower-case TFLite name, which is numpy's for all integer types
    quantization: Quantization | None  #: None without, or with one pair per channel
    data: bytes | None  #: contents of a constant
    is_variable: bool = False  #: keeps what it holds from one inference to the next

    @property
    def element_size(self) -> int:
        """Size of one element in bytes. Raises ModelError for a type that has none."""
        try:
            return np.dtype(self.dtype).itemsize
        except TypeError as error:
            raise ModelError(f"tensor {self.name!r} is {self.dtype}, which has no size of its own") from error

    @property
    def size(self) -> int:
        """Size in bytes. Raises ModelError as `element_size` does."""
        return prod(self.shape) * self.element_size


@dataclass(frozen=True)
class FileOperator:
    """One operator; inputs and outputs are indices of tensors, -1 for an optional one left out."""

    name: str  #: the builtin's name, such as "CONV_2D", or the custom code, such as "ethos-u"
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class TfliteGraph:
    """The one subgraph of a .tflite file, with the file's metadata."""

    tensors: tuple[FileTensor, ...]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    metadata: dict[str, bytes]

    @property
    def keeps_state(self) -> bool:
        """Whether an inference depends on those before it: by variable tensors, or by resources."""
        return any(tensor.is_variable for tensor in self.tensors) or any(
            operator.name == VARIABLE_OPERATOR for operator in self.operators
        )

    @cached_property
    def input_tensors(self) -> tuple[FileTensor, ...]:
        """The network's inputs, in the file's order."""
        return tuple(self.tensors[index] for index in self.inputs)

    @cached_property
    def output_tensors(self) -> tuple[FileTensor, ...]:
        """The network's outputs, in the file's order."""
        return tuple(self.tensors[index] for index in self.outputs)


def read_tflite(name: str, data: bytes) -> TfliteGraph:
    """Reads the file; `name` is for messages.

    Raises ModelError when it is no .tflite file, is damaged, or has more than one subgraph.
    """
    if data[4:8] != FILE_IDENTIFIER:
        raise ModelError(f"{name} is not a .tflite file: its bytes 4 to 7 are not {FILE_IDENTIFIER.decode()}")
    try:
        model = tflite.Model.GetRootAs(data, 0)
        if model.SubgraphsLength() != 1:
            raise ModelError(f"{name} has {model.SubgraphsLength()} subgraphs; only one can be run")
        return _read_graph(model)
    except (struct.error, LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
        # The schema's readers check nothing, so a damaged file ends in whatever its wrong offsets lead to.
        raise ModelError(f"{name} is a damaged .tflite file: {error}") from error


def _read_graph(model: Any) -> TfliteGraph:
    graph = model.Subgraphs(0)
    metadata = (model.Metadata(index) for index in range(model.MetadataLength()))
    return TfliteGraph(
        tensors=tuple(_read_tensor(model, graph.Tensors(index)) for index in range(graph.TensorsLength())),
        operators=tuple(_read_operator(model, graph.Operators(i)) for i in range(graph.OperatorsLength())),
        inputs=tuple(graph.Inputs(index) for index in range(graph.InputsLength())),
        outputs=tuple(graph.Outputs(index) for index in range(graph.OutputsLength())),
        metadata={entry.Name().decode(): _buffer(model, entry.Buffer()) or b"" for entry in metadata},
    )


def _read_tensor(model: Any, tensor: Any) -> FileTensor:
    return FileTensor(
        name=(tensor.Name() or b"").decode(),
        shape=tuple(tensor.Shape(axis) for axis in range(tensor.ShapeLength())),
        shape_signature=tuple(tensor.ShapeSignature(axis) for axis in range(tensor.ShapeSignatureLength())),
        dtype=_TYPE_NAMES[tensor.Type()],
        quantization=_read_quantization(tensor.Quantization()),
        data=_buffer(model, tensor.Buffer()),
        is_variable=bool(tensor.IsVariable()),
    )


def _read_quantization(quantization: Any) -> Quantization | None:
    if quantization is None or quantization.ScaleLength() != 1:
        return None
    zero_point = quantization.ZeroPoint(0) if quantization.ZeroPointLength() else 0
    return Quantization(scale=float(quantization.Scale(0)), zero_point=int(zero_point))


def _read_operator(model: Any, operator: Any) -> FileOperator:
    code = model.OperatorCodes(operator.OpcodeIndex())
    # Codes above 127 stand in the newer field only; files older than it have the deprecated one only.
    builtin = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
    custom = code.CustomCode()
    return FileOperator(
        name=custom.decode() if custom else _OPERATOR_NAMES[builtin],
        inputs=tuple(operator.Inputs(index) for index in range(operator.InputsLength())),
        outputs=tuple(operator.Outputs(index) for index in range(operator.OutputsLength())),
    )


def _buffer(model: Any, index: int) -> bytes | None:
    buffer = model.Buffers(index)
    return buffer.DataAsNumpy().tobytes() if buffer.DataLength() else None


@dataclass(frozen=True)
class Signature:
    """A network's inputs and outputs in words, such as "int8 1x32x32x3"."""

    inputs: str
    outputs: str


def read_signature(data: bytes) -> Signature:
    """What goes into a .tflite network and what comes out. Raises ModelError as `read_tflite` does."""
    graph = read_tflite("the model", data)

    def words(tensors: tuple[FileTensor, ...]) -> str:
        return ", ".join(f"{tensor.dtype} {'x'.join(map(str, tensor.shape))}" for tensor in tensors)

    return Signature(words(graph.input_tensors), words(graph.output_tensors))
