"""Models that Vela compiled earlier: opened as they are, with the MAC count their payload was made for."""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import ModelError
from harness.models.catalog import ModelKind, ModelSource
from harness.models.compiled import CompiledModel, Tensor
from harness.models.optimised import read_optimised
from harness.models.payload import payload_macs, payload_options
from harness.models.placement import Placement, place_tensors
from harness.models.pte import read_pte
from harness.models.tflite_file import read_tflite
from harness.models.vela_raw import read_raw

# Raw output gives the width of an element, not its type; the NPU's own networks are signed.
_DTYPE_OF_WIDTH = {1: "int8", 2: "int16", 4: "int32"}


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
        raw = read_optimised(name, graph)
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
        variables=raw.variables,
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
