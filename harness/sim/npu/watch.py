"""Watching a stream run: every range of memory, just before an operation reads or writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.sim.npu.faults import Channel

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
