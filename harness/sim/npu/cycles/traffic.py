"""What an operation moves between the NPU and its memories, and the cycles that takes.

Formulae: Vela 5.2, regor/architecture/ethosu85/ethos_u85_performance.cpp.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from harness.sim.npu.cycles.geometry import Geometry, Size, divide, size, smaller, stored
from harness.sim.npu.cycles.speeds import Channel, MemoryProfile, Speeds
from harness.sim.npu.cycles.work import FeatureMap, Memory, Unit

SHORT_WRITE = 16  #: elements of a row that are written at a time when rows lie apart
OUTSIDE = (Memory.SRAM, Memory.EXTERNAL)


class Transfer(NamedTuple):
    """Bytes through one channel, those counted in that a memory moves in vain with a short burst."""

    memory: Memory
    channel: Channel
    size: float


def ifm_block_cycles(geometry: Geometry, profile: MemoryProfile) -> int:
    """Cycles until the first IFM block has arrived."""
    return max(
        (
            profile.speed(ifm.memory).read_latency
            + int(
                _burst_bytes(ifm, geometry.ifm_block, prod(smaller(size(ifm), geometry.ifm_block)), profile)
                / profile.speed(ifm.memory).bytes_per_cycle
            )
            for ifm in geometry.work.ifms
            if ifm.memory in OUTSIDE
        ),
        default=0,
    )


def ofm_block_cycles(geometry: Geometry, ofm: FeatureMap, profile: MemoryProfile) -> int:
    """Cycles until the last OFM block has been written."""
    if ofm.memory not in OUTSIDE:
        return 0
    speed = profile.speed(ofm.memory)
    return speed.write_latency + int(
        _burst_bytes(ofm, geometry.work.ofm_block, prod(geometry.ofm_block), profile, write=True)
        / speed.bytes_per_cycle
    )


def transfers(geometry: Geometry, profile: MemoryProfile) -> list[Transfer]:
    """Everything that one operation moves."""
    work = geometry.work
    streaming = work.unit in (Unit.ELEMENTWISE, Unit.RESIZE)
    moved = [
        Transfer(
            ifm.memory,
            Channel.STREAM if streaming else Channel.IFM,
            _burst_bytes(ifm, geometry.ifm_block, _elements_read(geometry, ifm), profile),
        )
        for ifm in work.ifms
        if ifm.memory in OUTSIDE
    ]
    if work.ofm.memory in OUTSIDE:
        written = _burst_bytes(work.ofm, work.ofm_block, prod(stored(work.ofm)), profile, write=True)
        moved.append(Transfer(work.ofm.memory, Channel.WRITE, written))
    return moved + _constants(geometry)


def memory_cycles(moved: Sequence[Transfer], speeds: Speeds, profile: MemoryProfile) -> int:
    """Cycles of the memory that needs most: its whole traffic, or that of its slowest channel."""
    by_memory: dict[Memory, float] = defaultdict(float)
    by_channel: dict[tuple[Memory, Channel], float] = defaultdict(float)
    for memory, channel, amount in moved:
        by_memory[memory] += amount
        by_channel[memory, channel] += amount
    whole = [amount / profile.speed(memory).bytes_per_cycle for memory, amount in by_memory.items()]
    each = [
        amount / profile.speed(memory).rate(speeds, channel)
        for (memory, channel), amount in by_channel.items()
    ]
    return int(max(whole + each, default=0))


def copy_cycles(
    amount: int, source: Memory, destination: Memory, speeds: Speeds, profile: MemoryProfile
) -> int:
    """Cycles of one DMA transfer: those of its slower side, which memory inside the NPU never is."""
    cycles = 0
    if source in OUTSIDE:
        speed = profile.speed(source)
        cycles = int(amount / speed.rate(speeds, Channel.COPY)) + speed.read_latency
    if destination in OUTSIDE:
        speed = profile.speed(destination)
        cycles = max(cycles, int(amount / speed.rate(speeds, Channel.WRITE)) + speed.write_latency)
    return cycles


def _constants(geometry: Geometry) -> list[Transfer]:
    """Weights and scales, fetched again for each OFM block along height and width.

    They count where the registers point.  Vela charges scales to the memory they were compiled into even when
    the stream copies them first, so its figures are higher in memory modes that keep weights outside SRAM.
    """
    weights = geometry.work.weights
    if weights is None:
        return []
    rows, columns, _ = divide(size(geometry.work.ofm), geometry.ofm_block)
    return [
        Transfer(weights.weight_memory, Channel.WEIGHTS, rows * columns * weights.weight_bytes),
        Transfer(weights.scale_memory, Channel.SCALES, rows * columns * weights.scale_bytes),
    ]


def _elements_read(geometry: Geometry, ifm: FeatureMap) -> int:
    """IFM elements that are fetched, those counted several times that several blocks need."""
    work = geometry.work
    if work.unit in (Unit.ELEMENTWISE, Unit.RESIZE):
        return prod(stored(ifm))
    height, width, _ = smaller(size(ifm), geometry.ifm_block)
    rows, columns, slices = divide(size(work.ofm), geometry.ofm_block)
    if work.unit in (Unit.DEPTHWISE, Unit.POOL):
        slices = 1
    fetches = sum(count for _, count in geometry.sub_kernels) * rows * columns * slices
    return height * width * stored(ifm)[2] * fetches


def _burst_bytes(
    feature_map: FeatureMap, block: Size, elements: int, profile: MemoryProfile, *, write: bool = False
) -> float:
    """Bytes moved for *elements* of a feature map, where a short burst costs as much as a long one."""
    _, width, depth = block
    if feature_map.brick:
        together = 16 * width
    elif feature_map.depth == depth and (depth <= SHORT_WRITE or not write):
        together = width * depth
    elif write:
        together = min(SHORT_WRITE, depth)
    else:
        together = depth
    longest = profile.speed(feature_map.memory).burst
    burst = min(longest, together * feature_map.bits // 8)
    return elements * feature_map.bits / 8 * longest / burst
