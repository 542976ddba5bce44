"""What an operation moves between the NPU and its memories, and the cycles that takes.

Formulae: Vela 5.2, regor/architecture/ethosu85/ethos_u85_performance.cpp.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from harness.sim.npu.cycles.geometry import Geometry, Size, divide, size, smaller, stored
from harness.sim.npu.cycles.speeds import Channel, MemoryProfile, Speeds
from harness.sim.npu.cycles.work import OUTSIDE, DmaWork, FeatureMap, Memory, Unit

SHORT_WRITE = 16  #: elements of a row that are written at a time when rows lie apart


class Transfer(NamedTuple):
    """What goes through one channel to or from one memory."""

    memory: Memory
    channel: Channel
    size: int  #: bytes
    occupied: float  #: the same with the bytes that a memory moves in vain in short bursts


@dataclass(frozen=True)
class Traffic:
    """Bytes through the AXI ports, without those that a memory moves in vain."""

    sram_read: int = 0
    sram_written: int = 0
    external_read: int = 0
    external_written: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.sram_read + other.sram_read,
            self.sram_written + other.sram_written,
            self.external_read + other.external_read,
            self.external_written + other.external_written,
        )


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
    moved = [_fetched(geometry, ifm, profile) for ifm in work.ifms if ifm.memory in OUTSIDE]
    if work.start is not None and work.start.memory in OUTSIDE:
        moved.append(_started_from(geometry, work.start, profile))
    if work.ofm.memory in OUTSIDE:
        elements = prod(stored(work.ofm))
        occupied = _burst_bytes(work.ofm, work.ofm_block, elements, profile, write=True)
        moved.append(Transfer(work.ofm.memory, Channel.WRITE, elements * work.ofm.bits // 8, occupied))
    return moved + _constants(geometry)


def traffic(moved: Iterable[Transfer]) -> Traffic:
    """Sum up transfers by memory and direction."""
    sums: dict[tuple[Memory, bool], int] = defaultdict(int)
    for transfer in moved:
        sums[transfer.memory, transfer.channel is Channel.WRITE] += transfer.size
    return Traffic(*(sums[memory, write] for memory in OUTSIDE for write in (False, True)))


def memory_cycles(moved: Sequence[Transfer], speeds: Speeds, profile: MemoryProfile) -> int:
    """Cycles of the memory that needs most: its whole traffic, or that of its slowest channel."""
    by_memory: dict[Memory, float] = defaultdict(float)
    by_channel: dict[tuple[Memory, Channel], float] = defaultdict(float)
    for memory, channel, _, amount in moved:
        by_memory[memory] += amount
        by_channel[memory, channel] += amount
    whole = [amount / profile.speed(memory).bytes_per_cycle for memory, amount in by_memory.items()]
    each = [
        amount / profile.speed(memory).rate(speeds, channel)
        for (memory, channel), amount in by_channel.items()
    ]
    return int(max(whole + each, default=0))


def copied(copy: DmaWork) -> list[Transfer]:
    """What one DMA transfer moves: once out of its source, once into its destination."""
    ends = ((copy.source, Channel.COPY), (copy.destination, Channel.WRITE))
    return [Transfer(memory, channel, copy.size, copy.size) for memory, channel in ends if memory in OUTSIDE]


def copy_cycles(copy: DmaWork, speeds: Speeds, profile: MemoryProfile) -> int:
    """Cycles of one DMA transfer: those of its slower side, which memory inside the NPU never is."""

    def cycles(memory: Memory, channel: Channel) -> int:
        speed = profile.speed(memory)
        latency = speed.write_latency if channel is Channel.WRITE else speed.read_latency
        return int(copy.size / speed.rate(speeds, channel)) + latency

    return max((cycles(memory, channel) for memory, channel, _, _ in copied(copy)), default=0)


def _fetched(geometry: Geometry, ifm: FeatureMap, profile: MemoryProfile) -> Transfer:
    """What an operation reads of one of its inputs."""
    streaming = geometry.work.unit in (Unit.ELEMENTWISE, Unit.RESIZE)
    elements = _elements_read(geometry, ifm)
    return Transfer(
        ifm.memory,
        Channel.STREAM if streaming else Channel.IFM,
        elements * ifm.bits // 8,
        _burst_bytes(ifm, geometry.ifm_block, elements, profile),
    )


def _started_from(geometry: Geometry, start: FeatureMap, profile: MemoryProfile) -> Transfer:
    """What the accumulators start from, read once.  Vela's estimate leaves it out (MeasureElementAccess)."""
    elements = prod(stored(start))
    occupied = _burst_bytes(start, geometry.ofm_block, elements, profile)
    return Transfer(start.memory, Channel.IFM, elements * start.bits // 8, occupied)


def _constants(geometry: Geometry) -> list[Transfer]:
    """Weights and scales, fetched again for each OFM block along height and width.

    Of what the stream has copied first, scales take the time they would take where they were copied from.  So
    Vela has it (EthosU85Performance::MeasureAccessCycles), although they are read where they were copied to.
    """
    weights = geometry.work.weights
    if weights is None:
        return []
    rows, columns, _ = divide(size(geometry.work.ofm), geometry.ofm_block)
    fast = weights.fast and weights.copied_from is not None
    channel = Channel.FAST_WEIGHTS if fast else Channel.WEIGHTS
    weight_bytes, scale_bytes = rows * columns * weights.weight_bytes, rows * columns * weights.scale_bytes
    return [
        Transfer(weights.weight_memory, channel, weight_bytes, weight_bytes),
        Transfer(weights.scale_memory, Channel.SCALES, scale_bytes, 0),
        Transfer(weights.copied_from or weights.scale_memory, Channel.SCALES, 0, scale_bytes),
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
