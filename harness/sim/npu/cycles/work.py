"""What a command stream asks the NPU to do, as far as it takes time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Memory(StrEnum):
    """Where data lies, as far as its speed is concerned."""

    SRAM = "sram"
    EXTERNAL = "external"
    CHAINED = "chained"
    """A chaining buffer inside the NPU: no traffic."""
    LUT = "lut"
    """The NPU's own table RAM, a DMA destination."""


OUTSIDE = (Memory.SRAM, Memory.EXTERNAL)
"""What the NPU reaches through its AXI ports."""


class Unit(Enum):
    """Which part of the NPU an operation occupies."""

    CONV = "conv"
    DEPTHWISE = "depthwise"
    POOL = "pool"
    """MAX, MIN, AVERAGE, SUM and ARGMAX windows."""
    REDUCE_SUM = "reduce-sum"
    ELEMENTWISE = "elementwise"
    """ELEMENTWISE, and POOL in mode NONE, which only passes through the output stage."""
    RESIZE = "resize"


@dataclass(frozen=True)
class FeatureMap:
    """A feature map as one operation reads or writes it; a scalar operand is not one."""

    height: int
    width: int
    depth: int
    bits: int
    brick: bool
    """Stored as NHCWB16, not NHWC."""
    memory: Memory


@dataclass(frozen=True)
class Place:
    """Where bytes lie: the number of their region, and their distance from its start."""

    region: int
    offset: int


@dataclass(frozen=True)
class WeightTraffic:
    """What an operation fetches besides feature maps; byte counts are those of the LENGTH registers."""

    weight_bytes: int
    """The sum over all weight streams."""
    weight_memory: Memory
    scale_bytes: int
    scale_memory: Memory
    scale_place: Place
    fast: bool
    sparse: bool
    copied_from: Memory | None = None
    """Where weights and scales were before the stream itself copied them to where they are fetched from."""


@dataclass(frozen=True)
class KernelWork:
    """One CONV, DEPTHWISE, POOL, ELEMENTWISE or RESIZE as the registers describe it.

    Pairs are (height, width).  *kernel* counts elements, without dilation.
    """

    unit: Unit
    ofm: FeatureMap
    ifms: tuple[FeatureMap, ...]
    """The IFM, then IFM2 where the operation has one that is not a scalar."""
    ofm_block: tuple[int, int, int]
    """Height, width, depth (OFM_BLK_*_M1 + 1)."""
    microblock: tuple[int, int]
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    part_kernel: bool = False
    acc48: bool = False
    weights: WeightTraffic | None = None
    divides: bool = False
    """Elementwise DIV."""
    binary: bool = False
    """Elementwise operation with two operands, a scalar counted as one."""
    swaps_rows: bool = False
    """The OFM write transposes height and width or reverses the width."""
    start: FeatureMap | None = None
    """IFM2, where the accumulators start from it."""

    @property
    def ifm_bits(self) -> int:
        """Bits of an operand; they are those of the OFM where all operands are scalars."""
        return self.ifms[0].bits if self.ifms else self.ofm.bits


@dataclass(frozen=True)
class DmaWork:
    """One DMA_START: how many bytes it moves from where to where."""

    size: int
    source: Memory
    destination: Memory
    place: Place | None = None
    """Where the first byte goes, when all go there in one piece."""


@dataclass(frozen=True)
class KernelWait:
    """KERNEL_WAIT: read on when at most *outstanding* kernels are unfinished."""

    outstanding: int


@dataclass(frozen=True)
class DmaWait:
    """DMA_WAIT: read on when at most *outstanding* transfers are unfinished."""

    outstanding: int


Work = KernelWork | DmaWork | KernelWait | DmaWait
