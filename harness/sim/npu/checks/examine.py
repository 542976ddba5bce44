"""All checks on one stream, in the order of its commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.sim.npu import cycles
from harness.sim.npu.checks.access import misaligned, protected_writes
from harness.sim.npu.checks.blockdep import block_dependency
from harness.sim.npu.checks.finding import CheckFinding, CheckReport
from harness.sim.npu.checks.footprint import Kernel, footprint
from harness.sim.npu.checks.outstanding import Outstanding, ends_chain
from harness.sim.npu.checks.overlap import overlaps
from harness.sim.npu.checks.regions import Region
from harness.sim.npu.checks.unwritten import Ledger
from harness.sim.npu.checks.visit import Visit, visit
from harness.sim.npu.config import NpuConfig
from harness.sim.npu.program import CACHED_PROGRAMS, Program, Wait, prepare


@dataclass(frozen=True)
class Extent:
    """The part of a region that a stream reads, or writes: from the first byte to the last."""

    region: int
    writes: bool
    offset: int
    size: int


def check_stream(stream: bytes, config: NpuConfig, regions: Sequence[Region]) -> CheckReport:
    """Check a command stream whose region i is regions[i]."""
    program = prepare(stream, config)
    return check_program(program, len(program.steps), config, tuple(regions))


@lru_cache(maxsize=CACHED_PROGRAMS)
def check_program(
    program: Program, operations: int, config: NpuConfig, regions: tuple[Region, ...]
) -> CheckReport:
    """Check the first `operations` steps of a program."""
    seen = [visit(step, regions) for step in program.steps[:operations]]
    found = [finding for _, strays in seen for finding in strays]
    followed = [entered for entered, _ in seen]
    found += _step_findings(followed, regions)
    found += _kernel_findings(followed, config)
    found.sort(key=lambda finding: finding.offset)
    return CheckReport(
        tuple(finding for finding in found if finding.certain),
        tuple(finding for finding in found if not finding.certain),
        program.fault,
    )


@lru_cache(maxsize=CACHED_PROGRAMS)
def extents(program: Program, operations: int) -> tuple[Extent, ...]:
    """Return what the first `operations` steps use of each region, by region; reads before writes."""
    ranges: dict[tuple[int, bool], tuple[int, int]] = {}
    for step in program.steps[:operations]:
        for touch in footprint(step.operation):
            if touch.region is not None and touch.certain:
                key = touch.region, touch.writes
                start, end = ranges.get(key, (touch.offset, touch.end))
                ranges[key] = min(start, touch.offset), max(end, touch.end)
    return tuple(Extent(*key, start, end - start) for key, (start, end) in sorted(ranges.items()))


def _step_findings(followed: Sequence[Visit], regions: Sequence[Region]) -> Iterator[CheckFinding]:
    ledger, outstanding = Ledger(regions, followed), Outstanding()
    for entered in followed:
        yield from ledger.enter(entered)
        yield from protected_writes(entered)
        yield from misaligned(entered)
        yield from outstanding.enter(entered)


def _kernel_findings(followed: Sequence[Visit], config: NpuConfig) -> Iterator[CheckFinding]:
    previous: list[tuple[Visit, Kernel]] = []
    for chain in _chains(followed):
        if not chain:
            previous = []
            continue
        yield from overlaps(chain)
        if previous:
            yield from block_dependency(previous, chain, config.macs)
        previous = chain


def _chains(followed: Iterable[Visit]) -> Iterator[list[tuple[Visit, Kernel]]]:
    """Yield the operations of each kernel; an empty list where the NPU waits for all kernels."""
    chain: list[tuple[Visit, Kernel]] = []
    for entered in followed:
        operation = entered.step.operation
        if isinstance(operation, Wait):
            if operation.wait == cycles.KernelWait(0):
                yield []
        elif isinstance(operation, Kernel):
            chain.append((entered, operation))
            if ends_chain(entered):
                yield chain
                chain = []
