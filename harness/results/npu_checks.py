"""Misuse of memory by the NPU's command streams, as the board tells it at the end of a run.

npu-check       a stream breaks a rule: its own accesses, or what they do to the buffers that the driver has

The simulator knows streams and base pointers (harness/sim/npu_checks.py has the form of its lines), the
firmware's records know the buffers. Here both meet: a job is an inference, and what a job used of a region
has to lie in the buffer that the firmware had for it, and off those that only it may write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.models.compiled import SCRATCH_REGION, Tensor
from harness.results.finding import Finding
from harness.results.jobs import places_at, started_jobs
from harness.results.run_record import CellRecord, Inference, Place, RunRecord

_JOBS = r"jobs=(?P<jobs>[0-9,-]+)"
_WHERE = r"address=0x(?P<address>[0-9a-f]+) bytes=(?P<size>\d+)"
_CHECK = re.compile(
    rf"harness-sim: npu-check (?P<check>\S+) sure=(?P<sure>yes|no) {_JOBS} at=(?P<at>\S+) "
    rf"op=(?P<operation>\S+) region=(?P<region>\S+) {_WHERE}"
)
_EXTENT = re.compile(
    rf"harness-sim: npu-extent access=(?P<access>read|write) {_JOBS} region=(?P<region>\d+) {_WHERE}"
)
_BUFFERS = {0: "weights", 1: "scratch", 2: "NPU SRAM", 3: "inputs", 4: "outputs"}
"""What lies behind each region of a direct-drive stream. Records do not tell where the NPU's SRAM is, nor, of
a driver that keeps it for itself, where the others are: what is not told is not judged."""

_READ_UNWRITTEN = "read-unwritten"
_PROTECTED = ("weights", "inputs")  #: what a stream may not write

_Job = tuple[CellRecord, Inference]


@dataclass(frozen=True)
class StreamCheck:
    """One rule that a stream breaks, by itself."""

    check: str
    sure: bool  #: False where the rules do not decide
    jobs: tuple[int, ...]  #: counted from 0 over the whole run
    at: str  #: offset of the command in the stream
    operation: str
    region: str  #: its number, or "lut"
    address: int
    size: int  #: bytes


@dataclass(frozen=True)
class Extent:
    """What jobs used of a region: the first byte, and how many from there to the last."""

    writes: bool
    jobs: tuple[int, ...]
    region: int
    address: int
    size: int


@dataclass(frozen=True)
class StreamChecks:
    """All that the board said of its jobs."""

    checks: tuple[StreamCheck, ...]
    extents: tuple[Extent, ...]


def stream_checks(console: Iterable[str]) -> StreamChecks:
    """What the board said, found among other lines that are no records."""
    lines = tuple(console)
    return StreamChecks(
        tuple(
            StreamCheck(
                check=match["check"],
                sure=match["sure"] == "yes",
                jobs=_numbers(match["jobs"]),
                at=match["at"],
                operation=match["operation"],
                region=match["region"],
                address=int(match["address"], 16),
                size=int(match["size"]),
            )
            for match in map(_CHECK.fullmatch, lines)
            if match is not None
        ),
        tuple(
            Extent(
                writes=match["access"] == "write",
                jobs=_numbers(match["jobs"]),
                region=int(match["region"]),
                address=int(match["address"], 16),
                size=int(match["size"]),
            )
            for match in map(_EXTENT.fullmatch, lines)
            if match is not None
        ),
    )


def npu_check_findings(
    said: StreamChecks, run: RunRecord, model: int, written: Sequence[Tensor] = ()
) -> Iterator[Finding]:
    """One finding for each rule that jobs of a model break, at the first of those jobs.

    `run` is the whole run, since jobs are counted over it; `written` are the model's inputs and variables,
    which the CPU writes. What the rules do not decide is no finding.
    """
    jobs = started_jobs(run)
    for check in said.checks:
        own = [job for job in _of_model(check.jobs, jobs, model) if not _is_written(check, job, written)]
        if own and check.sure:
            where = f"{check.size} bytes at {check.address:#x} (region {check.region})"
            yield _finding(own[0], len(own), f"{check.check}: {check.operation} at {check.at}, {where}")
    for extent in said.extents:
        wrong = [
            (job, detail)
            for job in _of_model(extent.jobs, jobs, model)
            if (detail := _misplaced(extent, places_at(*job))) is not None
        ]
        if wrong:
            (job, detail), *_ = wrong
            yield _finding(job, len(wrong), detail)


def _is_written(check: StreamCheck, job: _Job, written: Sequence[Tensor]) -> bool:
    """Whether a read of scratch that no operation wrote is one of a tensor there that the CPU wrote."""
    scratch = places_at(*job).get(_BUFFERS[SCRATCH_REGION])
    if (check.check, check.region) != (_READ_UNWRITTEN, str(SCRATCH_REGION)) or scratch is None:
        return False
    start = check.address - scratch.address
    return any(
        tensor.region == SCRATCH_REGION
        and tensor.offset <= start
        and start + check.size <= tensor.offset + tensor.size
        for tensor in written
    )


def _of_model(numbers: Iterable[int], jobs: list[_Job], model: int) -> list[_Job]:
    return [jobs[number] for number in numbers if number < len(jobs) and jobs[number][0].model == model]


def _misplaced(extent: Extent, places: dict[str, Place]) -> str | None:
    """Return what is wrong with what was used of a region, None when nothing is."""
    used = f"{extent.size} bytes at {extent.address:#x}"
    if extent.writes:
        for name in _PROTECTED:
            place = places.get(name)
            if place is not None and _meet(extent, place):
                return f"write-protected: region {extent.region}, {used}, written over the {name}"
    if extent.region not in _BUFFERS:
        return f"outside-region: region {extent.region} has no buffer, {used}"
    name = _BUFFERS[extent.region]
    place = places.get(name)
    if place is None:
        return None
    if extent.address < place.address or extent.address + extent.size > place.address + place.size:
        buffer = f"{place.size} bytes at {place.address:#x}"
        return f"outside-region: {used} of region {extent.region} are not in the {name}, {buffer}"
    return None


def _meet(extent: Extent, place: Place) -> bool:
    return extent.address < place.address + place.size and place.address < extent.address + extent.size


def _finding(job: _Job, count: int, detail: str) -> Finding:
    cell, inference = job
    more = f" (and {count - 1} more inferences)" if count > 1 else ""
    return Finding("npu-check", cell.mode, inference.index, detail + more)


def _numbers(ranges: str) -> tuple[int, ...]:
    """Return the numbers of a text like 0-2,5."""
    numbers: list[int] = []
    for text in ranges.split(","):
        first, _, last = text.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return tuple(numbers)
