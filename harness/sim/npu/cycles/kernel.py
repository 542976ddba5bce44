"""The cycles of one operation, or of several that are chained without going through memory.

Formulae: Vela 5.2, regor/architecture/ethosu85/ethos_u85_performance.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import NamedTuple

from harness.sim.npu.cycles.geometry import Geometry, stored
from harness.sim.npu.cycles.speeds import SPEEDS, MemoryProfile, Speeds
from harness.sim.npu.cycles.traffic import (
    Traffic,
    ifm_block_cycles,
    memory_cycles,
    ofm_block_cycles,
    traffic,
    transfers,
)
from harness.sim.npu.cycles.work import FeatureMap, KernelWork, Memory, Unit
from harness.sim.npu.weights.order import CORES

DIVISION = 33.0  #: output-stage cycles per quotient
SCALE_BYTES = 10
SCALE_WORD = 256  #: bytes of scales that are read within one memory latency
UNDER_WAY = 4  #: blocks whose commands are being issued at the same time


@dataclass(frozen=True)
class KernelCycles:
    """How long each part of the NPU is busy, and how long they take together."""

    mac: int
    weight_decoder: int
    output_stage: int
    memory: int
    issue: int
    total: int
    traffic: Traffic


class _Pace(NamedTuple):
    """What an operation needs when all its data arrive in time: per part, and together."""

    mac: float
    weight_decoder: float
    output_stage: float
    issue: float
    together: float


def kernel_cycles(chain: Sequence[KernelWork], macs: int, profile: MemoryProfile) -> KernelCycles:
    """Estimate an operation together with those that take its output through chaining buffers."""
    speeds = SPEEDS[macs]
    links = [Geometry(work, macs) for work in chain]
    per_element = sum(_output_per_element(work, speeds) for work in chain)
    moved = [transfer for link in links for transfer in transfers(link, profile)]
    memory = memory_cycles(moved, speeds, profile)
    pace_of = _output_pace if chain[0].unit in (Unit.ELEMENTWISE, Unit.RESIZE) else _mac_pace
    pace = pace_of(links[0], chain[-1].ofm, per_element, profile)
    return KernelCycles(
        mac=int(pace.mac),
        weight_decoder=int(pace.weight_decoder),
        output_stage=int(pace.output_stage),
        memory=memory,
        issue=int(pace.issue),
        total=max(int(pace.together), memory),
        traffic=traffic(moved),
    )


def _mac_pace(geometry: Geometry, ofm: FeatureMap, per_element: float, profile: MemoryProfile) -> _Pace:
    """MAC array and output stage work block after block, each on the block that the other has left."""
    blocks = geometry.blocks
    mac, decoder = _array_per_block(geometry)
    output = max(ceil(per_element * prod(geometry.ofm_block)), _scales_per_block(geometry, profile))
    read, written = ifm_block_cycles(geometry, profile), ofm_block_cycles(geometry, ofm, profile)
    gap = abs(written - read) if blocks > 1 else 0
    issue = (gap + mac + output) / UNDER_WAY
    slow, fast = sorted((max(mac, issue), max(output, issue)), reverse=True)
    together = slow * blocks + fast + read + written
    return _Pace(mac * blocks, decoder * blocks, output * blocks, issue * blocks, together)


def _output_pace(geometry: Geometry, ofm: FeatureMap, per_element: float, profile: MemoryProfile) -> _Pace:
    """The output stage works alone."""
    elements = prod(stored(geometry.work.ofm))
    output = ceil(per_element * elements)
    block = max(ofm_block_cycles(geometry, ofm, profile), ifm_block_cycles(geometry, profile))
    issue = ceil((block / prod(geometry.work.ofm_block) + per_element) / UNDER_WAY * elements)
    return _Pace(0, 0, output, issue, max(output, issue))


def _array_per_block(geometry: Geometry) -> tuple[float, float]:
    """Cycles of the MAC array, and those of the weight decoders, for one OFM block."""
    work = geometry.work
    ifm_depth = min(work.ifms[0].depth, geometry.ifm_block[2])
    mac = decoder = 0
    for elements, count in geometry.sub_kernels:
        one_mac, one_decoder = _sub_kernel(geometry, elements, ifm_depth)
        mac += count * one_mac
        decoder += count * one_decoder
    passes = -(-work.ifms[0].depth // ifm_depth) if work.unit in (Unit.CONV, Unit.REDUCE_SUM) else 1
    return float(mac * passes), float(decoder * passes)


def _sub_kernel(geometry: Geometry, elements: int, ifm_depth: int) -> tuple[int, int]:
    """Cycles of the MAC array, and those of the decoders, for one sub-kernel on one OFM and one IFM block."""
    work = geometry.work
    rows, columns, layers = geometry.microblocks
    area, width = rows * columns, work.ifm_bits // 8
    if work.unit is Unit.POOL:
        return max(4, elements) * area * layers * 4 * width + _restart(geometry, 1), 0
    deep = -(-ifm_depth // 8) if work.part_kernel else 1
    if work.unit is Unit.DEPTHWISE:
        steps, repeats, products = -(-elements // 4), layers, 4 * area * width
    elif work.part_kernel:
        steps, repeats, products = -(-elements // (2 if width == 2 else 4)), layers * deep, 4 * area
    else:
        steps, repeats, products = elements, layers * width, ifm_depth // 8 * area
    weights = 4 * geometry.microblock[2] // CORES[geometry.macs]  # cycles the decoders need for a step
    mac = max(weights, products) * steps * repeats // _sparse_gain(work) + _restart(geometry, steps) * deep
    return mac, weights * steps * repeats // _sparse_gain(work) if work.weights is not None else 0


def _restart(geometry: Geometry, steps: int) -> int:
    """Cycles lost between kernel steps when a block is too small to hide the pipeline's delay."""
    rows, columns, layers = geometry.microblocks
    if rows * columns > 1:
        return 0
    delay = 3 if geometry.work.acc48 and geometry.macs <= 128 else 2
    return delay * steps if layers == 1 else delay * (steps - 1) * layers


def _sparse_gain(work: KernelWork) -> int:
    return 2 if work.weights is not None and work.weights.sparse else 1


def _scales_per_block(geometry: Geometry, profile: MemoryProfile) -> float:
    """Cycles until the scales of an OFM block have been read."""
    weights = geometry.work.weights
    if weights is None:
        return 0.0
    latency = profile.speed(weights.scale_memory).read_latency
    return SCALE_BYTES * geometry.ofm_block[2] * latency / SCALE_WORD


def _output_per_element(work: KernelWork, speeds: Speeds) -> float:
    """Cycles of the output stage for one OFM element."""
    if work.divides:
        return DIVISION
    if work.unit is Unit.RESIZE:
        return _resize_per_element(work, speeds)
    swapped = speeds.swapped if work.swaps_rows else 0.0
    return max(speeds.output[_output_class(work)], swapped)


def _output_class(work: KernelWork) -> int:
    """The column of `Speeds.output`."""
    ofm_bits, ifm_bits = work.ofm.bits, work.ifm_bits
    if work.ofm.memory is Memory.CHAINED and 32 in (ofm_bits, ifm_bits):
        return 4
    if ofm_bits == 64:
        return 3
    if work.binary and ifm_bits == 32:
        return 5 if ofm_bits == 32 else 4
    return {8: 0, 16: 1, 32: 2}[ofm_bits]


def _resize_per_element(work: KernelWork, speeds: Speeds) -> float:
    ifm, ofm = work.ifms[0], work.ofm
    magnification = min(
        (ofm.width + ifm.width // 2) // ifm.width, (ofm.height + ifm.height // 2) // ifm.height
    )
    table = speeds.fine_resize if magnification >= speeds.macs // 512 else speeds.resize
    return table[0 if work.ifm_bits == 8 else 1]
