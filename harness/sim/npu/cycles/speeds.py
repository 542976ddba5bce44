"""How fast each configuration and each memory is, as far as it is published."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from harness.sim.npu.cycles.work import Memory

BEAT_BYTES = 16
"""Width of an AXI port."""

UTILISATION = 0.8
"""Share of a memory's transactions, and of the bytes in them, that are taken to be useful."""


class Channel(IntEnum):
    """The NPU's ports into memory, in the order of `Speeds.requests`."""

    COPY = 0
    STREAM = 1
    WEIGHTS = 2
    FAST_WEIGHTS = 3
    IFM = 4
    SCALES = 5
    WRITE = 6


@dataclass(frozen=True)
class Speeds:
    """The speeds of one configuration (Vela 5.2, regor/architecture/ethosu85/ethos_u85.cpp, l. 54-84)."""

    macs: int
    output: tuple[float, float, float, float, float, float]
    """Output-stage cycles per element: OFM of 8, 16, 32, 64 bits; 32 bits chained; two 32-bit operands."""
    swapped: float
    """Output-stage cycles per element when rows and columns change places."""
    resize: tuple[float, float]
    """Output-stage cycles per resized element of 8 and 16 bits."""
    fine_resize: tuple[float, float]
    """The same for large magnification."""
    requests: tuple[int, int, int, int, int, int]
    """Read buffers of each channel but WRITE, in 16 bytes."""


SPEEDS = {
    speeds.macs: speeds
    for speeds in (
        Speeds(
            macs=128,
            output=(1 / 2, 1 / 2, 1 / 2, 1, 1, 1),
            swapped=1,
            resize=(1 / 2, 1),
            fine_resize=(1 / 2, 1),
            requests=(64, 64, 128, 128, 104, 16),
        ),
        Speeds(
            macs=256,
            output=(1 / 4, 1 / 4, 1 / 4, 1 / 2, 1 / 2, 1 / 2),
            swapped=1 / 2,
            resize=(1 / 4, 1 / 2),
            fine_resize=(1 / 4, 1 / 2),
            requests=(104, 104, 128, 128, 128, 16),
        ),
        Speeds(
            macs=512,
            output=(1 / 8, 1 / 8, 1 / 4, 1 / 2, 1 / 4, 1 / 4),
            swapped=1 / 4,
            resize=(1 / 8, 1 / 4),
            fine_resize=(1 / 8, 1 / 4),
            requests=(128, 128, 256, 256, 128, 16),
        ),
        Speeds(
            macs=1024,
            output=(1 / 16, 1 / 8, 1 / 4, 1 / 2, 1 / 8, 1 / 4),
            swapped=1 / 8,
            resize=(1 / 8, 1 / 8),
            fine_resize=(1 / 16, 1 / 8),
            requests=(256, 256, 416, 208, 256, 16),
        ),
        Speeds(
            macs=2048,
            output=(1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 16, 1 / 8),
            swapped=1 / 16,
            resize=(1 / 16, 1 / 16),
            fine_resize=(1 / 32, 1 / 16),
            requests=(256, 256, 512, 256, 256, 16),
        ),
    )
}


class ProfileError(ValueError):
    """A memory profile does not exist, or a stream asks of its memories what they cannot do."""


@dataclass(frozen=True)
class MemorySpeed:
    """One memory as the NPU sees it; latencies in NPU cycles, sizes in bytes."""

    clock: float
    """Cycles of the memory in one of the NPU."""
    ports: int
    burst: int
    read_latency: int
    write_latency: int
    reads: int
    """Outstanding transactions per port."""
    writes: int
    """The same; 0 for a memory that cannot be written."""

    @property
    def bytes_per_cycle(self) -> float:
        """What all ports together move in one cycle of the NPU."""
        return BEAT_BYTES * self.ports * self.clock

    def rate(self, speeds: Speeds, channel: Channel) -> float:
        """Bytes per cycle that one channel gets when nothing else uses the memory.

        Raises ProfileError for writes to a memory that cannot be written.
        """
        outstanding = self.writes if channel is Channel.WRITE else self.reads
        if not outstanding:
            raise ProfileError("the stream writes to a memory that cannot be written")
        transactions = outstanding * self.ports * UTILISATION
        if channel is not Channel.WRITE:
            transactions = min(transactions, speeds.requests[channel] / max(self.burst // 16, 1))
        latency = self.write_latency if channel is Channel.WRITE else self.read_latency
        return min(self.bytes_per_cycle, self.burst * transactions / latency * UTILISATION)


@dataclass(frozen=True)
class MemoryProfile:
    """The two memories of a system."""

    sram: MemorySpeed
    external: MemorySpeed

    def speed(self, memory: Memory) -> MemorySpeed:
        """The speed of a memory outside the NPU; `KeyError` for one inside."""
        if memory is Memory.SRAM:
            return self.sram
        if memory is Memory.EXTERNAL:
            return self.external
        raise KeyError(memory)
