"""Cutting the softmax off a network, which would hide most differences before it.

The file is edited in place: a FlatBuffers vector carries its length, so dropping the last operators means
writing a smaller one, and naming another output means writing another index (FlatBuffers, "Internals").
"""

from __future__ import annotations

import struct
from typing import Any

import tflite

from harness.errors import ModelError
from harness.models.tflite_file import TfliteGraph, read_tflite

_SOFTMAX = "SOFTMAX"
_OUTPUTS_FIELD, _OPERATORS_FIELD = 8, 10  #: vtable offsets of SubGraph.outputs and .operators (schema.fbs)


def cut_before_softmax(name: str, data: bytes) -> bytes:
    """The .tflite file without its last softmax and what follows it; its output is the softmax's input.

    A network without a softmax comes back as it is. Raises ModelError when the rest cannot stand alone: the
    network has another output, or an operator after the softmax does not depend on it.
    """
    graph = read_tflite(name, data)
    softmaxes = [index for index, operator in enumerate(graph.operators) if operator.name == _SOFTMAX]
    if not softmaxes:
        return data
    position = softmaxes[-1]
    _check_tail(name, graph, position)
    edited = bytearray(data)
    subgraph = tflite.Model.GetRootAs(edited, 0).Subgraphs(0)
    struct.pack_into("<i", edited, _vector(subgraph, _OUTPUTS_FIELD), graph.operators[position].inputs[0])
    struct.pack_into("<I", edited, _vector(subgraph, _OPERATORS_FIELD) - 4, position)
    return bytes(edited)


def _check_tail(name: str, graph: TfliteGraph, position: int) -> None:
    made = set(graph.operators[position].outputs)
    for operator in graph.operators[position + 1 :]:
        if made.isdisjoint(operator.inputs):
            raise ModelError(
                f"{name}: {operator.name} after the softmax does not depend on it; cannot cut there"
            )
        made.update(operator.outputs)
    if len(graph.outputs) != 1 or graph.outputs[0] not in made:
        raise ModelError(f"{name} has outputs that do not come from its softmax; cannot cut there")


def _vector(table: Any, field: int) -> int:
    """The position of a vector's first element; its length stands in the 4 bytes before."""
    return int(table._tab.Vector(table._tab.Offset(field)))
