"""Filling what a stream may not read with bytes that show when it does."""

from __future__ import annotations

from collections.abc import Iterable

from harness.sim.npu.checks.regions import Region, Role
from harness.sim.npu.memory import Memory

POISON = 0xA5
"""A byte that is neither zero nor the sign extension of anything."""


def poison(memory: Memory, regions: Iterable[Region], byte: int = POISON) -> None:
    """Fill scratch and outputs but for what is written before the start; raises BusFault without memory.

    A region of unknown size is left as it is.
    """
    for region in regions:
        if region.role in (Role.SCRATCH, Role.OUTPUT) and region.size:
            content = memory.view(region.base, region.size)
            kept = [(offset, content[offset : offset + size].copy()) for offset, size in region.written]
            content[:] = byte
            for offset, data in kept:
                content[offset : offset + len(data)] = data
