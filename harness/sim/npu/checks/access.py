"""Writes to what is to stay as it is, and addresses that are not aligned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.sim.npu.checks.finding import Check, CheckFinding
from harness.sim.npu.checks.footprint import Touch
from harness.sim.npu.checks.regions import Region
from harness.sim.npu.checks.visit import Visit


def protected_writes(visit: Visit) -> Iterator[CheckFinding]:
    """Yield the writes to weights or inputs, through whichever region they go."""
    for touch in visit.touches:
        if touch.writes and touch.region is not None:
            hit = _protected(touch, visit.regions[touch.region], visit.regions)
            if hit is not None:
                where, role = hit
                yield visit.finding(
                    Check.WRITE_PROTECTED, touch, where, f"written to the {role}", certain=touch.certain
                )


def _protected(touch: Touch, own: Region, regions: Sequence[Region]) -> tuple[tuple[int, int], str] | None:
    """Return the part of a write that hits a protected buffer, as offset and size, and the buffer's name."""
    if own.role.is_protected:
        return (touch.offset, touch.size), own.role.value
    for region in regions:
        if region.role.is_protected and region.size is not None:
            start = max(touch.offset, region.base - own.base)
            end = min(touch.end, region.base - own.base + region.size)
            if start < end:
                return (start, end - start), region.role.value
    return None


def misaligned(visit: Visit) -> Iterator[CheckFinding]:
    """Yield the feature maps, weights and scales whose addresses do not fit what they hold."""
    for touch in visit.touches:
        address = visit.address(touch)
        if address % touch.alignment:
            detail = f"{touch.channel.name} data has to lie at a multiple of {touch.alignment} bytes"
            yield visit.finding(Check.MISALIGNED, touch, (touch.offset, touch.size), detail)
