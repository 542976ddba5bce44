"""Watching streams run: each range of memory just before it is accessed, and each job when it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.sim.npu.faults import Channel

if TYPE_CHECKING:
    from harness.sim.npu.config import NpuConfig
    from harness.sim.npu.program import Program

WRITING = (Channel.OFM, Channel.DMA_WRITE)


@dataclass(frozen=True)
class Access:
    """A range of bytes; of a feature map with gaps, all from its first to its last."""

    offset: int  #: bytes from the start of the stream to the command that accesses
    opcode: str  #: its name; QBASE for the fetch of the stream itself
    channel: Channel
    address: int
    size: int

    @property
    def is_write(self) -> bool:
        """Whether memory is about to change."""
        return self.channel in WRITING


Watch = Callable[[Access], None]
"""Told of each access. It may raise BusFault or CommandError, which the operation then meets."""


@dataclass(frozen=True)
class Job:
    """A stream that has been run, as far as it came."""

    program: Program
    operations: int  #: how many of its steps were carried out
    config: NpuConfig
    base_pointers: tuple[int, ...]


JobWatch = Callable[[Job], None]
"""Told of each job once its results are in memory."""
