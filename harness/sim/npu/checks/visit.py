"""One operation of a stream with all that it touches, and where in memory that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.sim.npu.checks.finding import Check, CheckFinding
from harness.sim.npu.checks.footprint import Touch, feature_map_touches, footprint
from harness.sim.npu.checks.regions import Region
from harness.sim.npu.faults import Channel
from harness.sim.npu.feature_map import InMemory
from harness.sim.npu.program import Step


@dataclass(frozen=True)
class Visit:
    """One step of a program."""

    step: Step
    touches: tuple[Touch, ...]  #: what it touches within the buffers
    strays: tuple[Touch, ...]  #: what leaves its buffer, or perhaps touches one of unknown size: not judged
    regions: Sequence[Region]

    def address(self, touch: Touch) -> int:
        """Return where a touch begins; in the table RAM, counted from its start."""
        return touch.offset if touch.region is None else self.regions[touch.region].base + touch.offset

    def pieces(self, feature_map: InMemory, channel: Channel) -> list[Touch]:
        """Return where a feature map of this step is, as far as that is inside its buffer."""
        return [touch for touch in feature_map_touches(feature_map, channel) if touch in self.touches]

    def distance(self, one: Touch, other: Touch) -> int | None:
        """Return how far the base of `other` lies above that of `one`; None when they share no memory."""
        if one.region is None or other.region is None:
            return 0 if one.region is other.region else None
        return self.regions[other.region].base - self.regions[one.region].base

    def finding(
        self, check: Check, touch: Touch, where: tuple[int, int], detail: str, *, certain: bool = True
    ) -> CheckFinding:
        """Return a finding on `where`, the offset in the touch's region and the number of bytes."""
        offset, size = where
        address = self.address(touch) - touch.offset + offset
        command = self.step.command
        return CheckFinding(check, command.offset, command.name, touch.region, address, size, detail, certain)


def visit(step: Step, regions: Sequence[Region]) -> tuple[Visit, list[CheckFinding]]:
    """Return a step with what it touches, and the findings on what lies outside its buffers."""
    inside: list[Touch] = []
    outside: list[Touch] = []
    findings: list[CheckFinding] = []
    for touch in footprint(step.operation):
        stray = _stray(step, touch, regions)
        if stray is not None:
            findings.append(stray)
        judged = stray is None and (touch.certain or _is_bounded(touch, regions))
        (inside if judged else outside).append(touch)
    return Visit(step, tuple(inside), tuple(outside), regions), findings


def _is_bounded(touch: Touch, regions: Sequence[Region]) -> bool:
    return touch.region is None or regions[touch.region].size is not None


def _stray(step: Step, touch: Touch, regions: Sequence[Region]) -> CheckFinding | None:
    """Return what a touch does outside its buffer; one outside the table RAM is refused earlier."""
    if touch.region is None:
        return None
    base, size, buffer = 0, 0, "the region has no buffer"
    if touch.region < len(regions):
        region = regions[touch.region]
        if region.size is None or touch.end <= region.size:
            return None
        base, size, buffer = region.base, region.size, f"the buffer has {region.size} bytes"
    first = max(touch.offset, size)
    return CheckFinding(
        Check.OUTSIDE_REGION,
        step.command.offset,
        step.command.name,
        touch.region,
        base + first,
        touch.end - first,
        f"{'written' if touch.writes else 'read'} at offset {first:#x}; {buffer}",
        touch.certain,
    )
