"""Models that Vela compiled earlier: opened as they are, with the MAC count their payload was made for."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.errors import ModelError
from harness.models.catalog import ETHOS_U_OPERATOR, ModelKind, ModelSource
from harness.models.compiled import INPUT_REGION, OUTPUT_REGION, SCRATCH_REGION, Bytes, CompiledModel, Tensor
from harness.models.payload import payload_macs, payload_options, used_regions
from harness.models.placement import Placement, place_tensors
from harness.models.pte import read_pte
from harness.models.tflite_file import TfliteGraph, read_tflite
from harness.models.vela_raw import RawNetwork, read_raw

# Raw output gives the width of an element, not its type; the NPU's own networks are signed.
_DTYPE_OF_WIDTH = {1: "int8", 2: "int16", 4: "int32"}
# Metadata of an optimised .tflite: int32 version, subgraph, count, then each tensor's offset in its region.
_OFFSETS = "OfflineMemoryAllocation"
_OFFSETS_HEADER = struct.Struct("<iii")


def open_precompiled(source: ModelSource, macs: int | None) -> CompiledModel:
    """The model in an optimised .tflite or a raw .npz file; `macs` is what the user asked for, if anything.

    Raises ModelError when it was compiled for another MAC count, or is no network for the NPU alone.
    """
    name = source.name
    if source.kind is ModelKind.PTE:
        program = read_pte(name, source.data)
        raw = program.network
        inputs = place_tensors(name, "input", program.inputs, raw.inputs)
        outputs = place_tensors(name, "output", program.outputs, raw.outputs)
    elif source.kind is ModelKind.RAW_NPZ:
        raw = read_raw(name, source.data)
        inputs = _unnamed_tensors(name, "input", raw.inputs)
        outputs = _unnamed_tensors(name, "output", raw.outputs)
    else:
        graph = read_tflite(name, source.data)
        raw = _read_optimised(name, graph)
        inputs = place_tensors(name, "input", graph.input_tensors, raw.inputs)
        outputs = place_tensors(name, "output", graph.output_tensors, raw.outputs)
    compiled_for = payload_macs(name, raw.command_stream)
    if macs is not None and macs != compiled_for:
        raise ModelError(
            f"{name} was compiled for {compiled_for} MACs and cannot run on {macs}",
            hint=f"ask for {compiled_for} MACs, or give the .tflite file it was compiled from",
        )
    return CompiledModel(
        name=name.removesuffix("_vela"),
        source_sha256=source.sha256,
        macs=compiled_for,
        command_stream=raw.command_stream,
        weights=raw.weights,
        scratch_size=raw.scratch_size,
        scratch_fast_size=raw.scratch_fast_size,
        inputs=inputs,
        outputs=outputs,
        vela_version="",
        # The file records no options; these are the ones its payload proves.
        vela_options=(f"--accelerator-config=ethos-u85-{compiled_for}", *payload_options(raw.command_stream)),
        tflite=None,
    )


def _unnamed_tensors(name: str, kind: str, placements: Sequence[Placement]) -> tuple[Tensor, ...]:
    for placement in placements:
        if placement.element_size not in _DTYPE_OF_WIDTH:
            raise ModelError(f"{name} has an {kind} with elements of {placement.element_size} bytes")
    return tuple(
        Tensor(
            name=f"{kind}_{index}",
            shape=placement.shape,
            dtype=_DTYPE_OF_WIDTH[placement.element_size],
            region=placement.region,
            offset=placement.offset,
            size=placement.size,
        )
        for index, placement in enumerate(placements)
    )


def _read_optimised(name: str, graph: TfliteGraph) -> RawNetwork:
    """What the `ethos-u` operator carries: its first inputs are stream, weights, scratch and NPU SRAM."""
    others = sorted({operator.name for operator in graph.operators} - {ETHOS_U_OPERATOR})
    if others or len(graph.operators) != 1:
        raise ModelError(
            f"{name} cannot run on the NPU alone: beside one ethos-u operator it has "
            f"{', '.join(others) or f'{len(graph.operators) - 1} more'}"
        )
    stream, weights, scratch, scratch_fast = graph.operators[0].inputs[:4]
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
