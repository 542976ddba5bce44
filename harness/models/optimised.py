"""What Vela writes with `--output-format tflite`: a network of one `ethos-u` operator."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.errors import ModelError
from harness.models.compiled import INPUT_REGION, OUTPUT_REGION, SCRATCH_REGION, Bytes, Variable
from harness.models.payload import used_regions
from harness.models.placement import Placement
from harness.models.tflite_file import FileTensor, TfliteGraph
from harness.models.vela_raw import RawNetwork

ETHOS_U_OPERATOR = "ethos-u"  #: the custom operator that Vela puts in place of what runs on the NPU

_FIXED_INPUTS = 4
# Metadata of an optimised .tflite: int32 version, subgraph, count, then each tensor's offset in its region.
_OFFSETS = "OfflineMemoryAllocation"
_OFFSETS_HEADER = struct.Struct("<iii")


def read_optimised(name: str, graph: TfliteGraph) -> RawNetwork:
    """What the `ethos-u` operator carries: its first inputs are stream, weights, scratch and NPU SRAM.

    The others, and its outputs, are the network's inputs and outputs, and its variables. Raises ModelError
    for a network that is not for the NPU alone, does not say where its tensors lie, or has variables
    elsewhere than in scratch.
    """
    others = sorted({operator.name for operator in graph.operators} - {ETHOS_U_OPERATOR})
    if others or len(graph.operators) != 1:
        raise ModelError(
            f"{name} cannot run on the NPU alone: beside one ethos-u operator it has "
            f"{', '.join(others) or f'{len(graph.operators) - 1} more'}"
        )
    stream, weights, scratch, scratch_fast = graph.operators[0].inputs[:_FIXED_INPUTS]
    if graph.tensors[stream].data is None:
        raise ModelError(f"{name} has an ethos-u operator without a command stream")
    payload = graph.tensors[stream].data or b""
    offsets = _offsets(name, graph)
    input_region, output_region = INPUT_REGION, OUTPUT_REGION
    if max(each.region for each in used_regions(name, payload)) < INPUT_REGION:
        input_region = output_region = SCRATCH_REGION
        # Offsets count from the start of the interpreter's arena, in which scratch memory lies.
        offsets = tuple(offset - offsets[scratch] for offset in offsets)
    return RawNetwork(
        command_stream=payload,
        weights=graph.tensors[weights].data or b"",
        scratch_size=Bytes(graph.tensors[scratch].size),
        # Without an NPU SRAM of its own the model repeats the scratch tensor.
        scratch_fast_size=Bytes(0 if scratch_fast == scratch else graph.tensors[scratch_fast].size),
        inputs=_placements(graph, graph.inputs, input_region, offsets),
        outputs=_placements(graph, graph.outputs, output_region, offsets),
        variables=_variables(name, graph, input_region, offsets),
    )


def _offsets(name: str, graph: TfliteGraph) -> tuple[int, ...]:
    metadata = graph.metadata.get(_OFFSETS, b"")
    count = len(graph.tensors)
    if len(metadata) != _OFFSETS_HEADER.size + 4 * count:
        raise ModelError(
            f"{name} does not say where its tensors lie: its metadata {_OFFSETS} is missing or damaged"
        )
    return struct.unpack_from(f"<{count}i", metadata, _OFFSETS_HEADER.size)


def _placements(
    graph: TfliteGraph, indices: Sequence[int], region: int, offsets: Sequence[int]
) -> tuple[Placement, ...]:
    placements = []
    for index in indices:
        tensor = graph.tensors[index]
        if offsets[index] < 0:
            raise ModelError(f"the compiled network does not place its tensor {tensor.name!r}")
        placements.append(
            Placement(
                shape=tensor.shape,
                element_size=tensor.element_size,
                region=region,
                offset=Bytes(offsets[index]),
            )
        )
    return tuple(placements)


def _variables(
    name: str, graph: TfliteGraph, input_region: int, offsets: Sequence[int]
) -> tuple[Variable, ...]:
    """One for each place: Vela lists a variable anew for each operation that reads or writes it."""
    (operator,) = graph.operators
    others = {*operator.inputs[:_FIXED_INPUTS], *graph.inputs, *graph.outputs}
    indices = [each for each in (*operator.inputs, *operator.outputs) if each not in others]
    if indices and input_region != SCRATCH_REGION:
        # Vela 5.2, regor/compiler/scheduler.cpp: what is read of a variable lies among the inputs then, and
        # what is written among the outputs, although its raw output says that both lie in scratch.
        raise ModelError(
            f"{name} keeps variables between inferences, and has them outside its scratch memory",
            hint="compile it without --separate-io-regions",
        )
    places = {offsets[index]: graph.tensors[index] for index in indices}
    return tuple(_variable(tensor, Bytes(offset)) for offset, tensor in sorted(places.items()))


def _variable(tensor: FileTensor, offset: Bytes) -> Variable:
    """A variable with what it starts from: its zero point, which is 0 in types of more than one byte.

    So has tflite-micro it: ResetVariableTensors in micro_interpreter_graph.cc, and for variables that are
    resources Allocate in micro_resource_variable.cc.
    """
    zero_point = tensor.quantization.zero_point if tensor.quantization else 0
    return Variable(
        name=tensor.name,
        shape=tensor.shape,
        dtype=tensor.dtype,
        region=SCRATCH_REGION,
        offset=offset,
        size=Bytes(tensor.size),
        quantization=tensor.quantization,
        initial=(zero_point & 0xFF if tensor.element_size == 1 else 0).to_bytes() * tensor.size,
    )
