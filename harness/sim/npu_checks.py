"""Misuse of memory by the jobs that the NPU was given, and what each used of the regions, as lines.

A finding is one line of text, which begins with what it is and goes on with `name=value` fields:

    harness-sim: npu-check read-unwritten sure=yes jobs=0-2,5 at=0x1c op=OP_POOL region=1 address=0x40 bytes=9

`sure=no` marks what the rules do not decide. `jobs` are those that it holds for, counted from 0; `at` and
`op` are the command's offset in the stream and its name; `region` is `lut` for the NPU's table RAM, where
`address` counts from its start. docs/npu-checks.md has the names.

How large the buffers are that base pointers lead to, only the driver knows. So each job's use of its regions
is told as well, from the first byte that is accessed to the last, for whoever has the driver's records:

    harness-sim: npu-extent access=write jobs=0-2,5 region=1 address=0xa0000000 bytes=4096
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from harness.sim.npu import Job
from harness.sim.npu.checks import DIRECT_DRIVE, CheckFinding, Extent, Region, check_program, extents


class NpuChecks:
    """Keeps the jobs that differ; they are checked when the lines are asked for."""

    def __init__(self) -> None:
        self._jobs: dict[Job, list[int]] = {}
        self._count = 0

    def enter(self, job: Job) -> None:
        """Hear of a job, just after it was carried out."""
        self._jobs.setdefault(job, []).append(self._count)
        self._count += 1

    def lines(self) -> Iterator[str]:
        """Yield what was found, and what the regions were used for, job by job."""
        for job, numbers in self._jobs.items():
            which = f"jobs={_ranges(numbers)}"
            bases = job.base_pointers
            regions = tuple(Region(role, base, None) for role, base in zip(DIRECT_DRIVE, bases, strict=False))
            report = check_program(job.program, job.operations, job.config, regions)
            for finding in (*report.findings, *report.unknown):
                yield _finding(finding, which)
            for extent in extents(job.program, job.operations):
                yield _extent(extent, bases[extent.region], which)


def _finding(finding: CheckFinding, which: str) -> str:
    region = "lut" if finding.region is None else finding.region
    return (
        f"harness-sim: npu-check {finding.check} sure={'yes' if finding.certain else 'no'} {which} "
        f"at={finding.offset:#x} op={finding.opcode} region={region} "
        f"address={finding.address:#x} bytes={finding.size}"
    )


def _extent(extent: Extent, base: int, which: str) -> str:
    return (
        f"harness-sim: npu-extent access={'write' if extent.writes else 'read'} {which} "
        f"region={extent.region} address={base + extent.offset:#x} bytes={extent.size}"
    )


def _ranges(numbers: list[int]) -> str:
    """Return rising numbers as text, with a range for those in a row: 0-2,5."""
    runs = []
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        row = [number for _, number in group]
        runs.append(f"{row[0]}-{row[-1]}" if len(row) > 1 else f"{row[0]}")
    return ",".join(runs)
