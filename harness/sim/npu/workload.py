"""What an operation is to the cycle estimate: its blocks, its feature maps and the memories they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.sim.npu import cycles
from harness.sim.npu.blocks import Blocks
from harness.sim.npu.constants import StoredConstants
from harness.sim.npu.feature_map import Chained, InMemory, Operand, Scalar
from harness.sim.npu.output import OutputStage

Memories = Sequence[cycles.Memory]
"""Where each region lies, by region number."""


def kernel_work(
    unit: cycles.Unit,
    ifms: Sequence[Operand],
    output: OutputStage,
    blocks: Blocks,
    memories: Memories,
    start: InMemory | Chained | None = None,
) -> cycles.KernelWork:
    """Describe an operation with a kernel of one element and no weights; `start` is what it adds to."""
    return cycles.KernelWork(
        unit=unit,
        ofm=_feature_map(output.ofm, memories),
        ifms=tuple(_feature_map(ifm, memories) for ifm in ifms if not isinstance(ifm, Scalar)),
        ofm_block=blocks.ofm,
        microblock=blocks.micro,
        acc48=blocks.acc48,
        swaps_rows=output.swaps_rows,
        start=None if start is None else _feature_map(start, memories),
    )


def constants_traffic(
    constants: StoredConstants[Any], memories: Memories, *, fast: bool = False, sparse: bool = False
) -> cycles.WeightTraffic:
    """Describe what an operation fetches besides feature maps: weights where it has any, and scales."""
    *weights, scales = constants.spans
    return cycles.WeightTraffic(
        weight_bytes=sum(span.size for span in weights),
        weight_memory=memories[constants.spans[0].region],
        scale_bytes=scales.size,
        scale_memory=memories[scales.region],
        scale_place=cycles.Place(scales.region, scales.offset),
        fast=fast,
        sparse=sparse,
    )


def _feature_map(feature_map: InMemory | Chained, memories: Memories) -> cycles.FeatureMap:
    bits = 8 * feature_map.dtype.itemsize
    if isinstance(feature_map, Chained):
        return cycles.FeatureMap(*feature_map.shape, bits, brick=False, memory=cycles.Memory.CHAINED)
    memory = memories[feature_map.region]
    return cycles.FeatureMap(*feature_map.shape, bits, feature_map.brick, memory)
