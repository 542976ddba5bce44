"""What a .tosa file says of its inputs and outputs: a FlatBuffer after the schema of TOSA 1.0 (tosa.fbs)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import ModelError
from harness.models.flatbuffer import FlatbufferError, Table, root_table
from harness.models.tflite_file import FileTensor

FILE_IDENTIFIER = b"TOSA"  #: bytes 4 to 7 of every .tosa file

# Fields by number, in the order of the schema's tables.
_REGIONS = 1  #: TosaGraph
_BLOCKS = 1  #: TosaRegion
_OPERATORS, _TENSORS, _INPUTS, _OUTPUTS = 1, 2, 3, 4  #: TosaBasicBlock
_NAME, _SHAPE, _TYPE, _IS_UNRANKED = 0, 1, 2, 5  #: TosaTensor

_DTYPES = {1: "bool", 3: "int8", 4: "int16", 5: "int32"}  #: what direct drive takes, by DType


@dataclass(frozen=True)
class TosaGraph:
    """The tensors that go into the graph's first region, and those that come out, in the file's order."""

    input_tensors: tuple[FileTensor, ...]
    output_tensors: tuple[FileTensor, ...]


def read_tosa(name: str, data: bytes) -> TosaGraph:
    """Read the file; `name` is for messages.

    Raises ModelError when it is damaged, computes nothing, or has an input or output that the NPU does not
    take.
    """
    try:
        return _read(name, root_table(data))
    except FlatbufferError as error:
        raise ModelError(f"{name} is a damaged .tosa file: {error}") from error


def _read(name: str, graph: Table) -> TosaGraph:
    # The first region is the network; the others are the branches of COND_IF and WHILE_LOOP.
    regions = graph.tables(_REGIONS)
    blocks = regions[0].tables(_BLOCKS) if regions else ()
    if len(blocks) != 1:
        raise ModelError(f"{name} has {len(blocks)} blocks in its first region; a graph of one can be run")
    (block,) = blocks
    if not block.tables(_OPERATORS):
        raise ModelError(f"{name} has no operator: there is nothing to run on the NPU")
    tensors = {tensor.text(_NAME): tensor for tensor in block.tables(_TENSORS)}
    return TosaGraph(
        tuple(_file_tensors(name, "input", block.texts(_INPUTS), tensors)),
        tuple(_file_tensors(name, "output", block.texts(_OUTPUTS), tensors)),
    )


def _file_tensors(
    name: str, kind: str, titles: Iterable[str], tensors: dict[str, Table]
) -> Iterable[FileTensor]:
    for title in titles:
        tensor = tensors.get(title)
        if tensor is None:
            raise ModelError(f"{name} is a damaged .tosa file: it has no tensor {title!r}, its {kind}")
        dtype = _DTYPES.get(tensor.number(_TYPE, "I"))
        if dtype is None:
            allowed = ", ".join(_DTYPES.values())
            raise ModelError(
                f"{name}: the {kind} {title!r} has the type {tensor.number(_TYPE, 'I')} of the TOSA schema; "
                f"allowed: {allowed}",
                hint="the NPU takes graphs of TOSA's integer profile",
            )
        shape = tensor.numbers(_SHAPE)
        if tensor.number(_IS_UNRANKED, "B") or any(size <= 0 for size in shape):
            raise ModelError(
                f"{name} has a dynamic shape: the {kind} {title!r} is {list(shape)}",
                hint="give every input a fixed shape",
            )
        yield FileTensor(title, shape, (), dtype, None, None)
