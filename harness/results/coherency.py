"""Missing cache maintenance, as the board tells it at the end of a run, in the terms of the plan.

coherency       NPU and CPU met in memory that the CPU had not cleaned, or not invalidated

The simulator's checker knows addresses and the NPU's jobs (harness/sim/coherency.py has the form of its
lines). Here an address becomes a buffer, a job an inference, and a program counter a function.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.results.finding import Finding
from harness.results.jobs import started_jobs
from harness.results.run_record import Place, RunRecord

_LINE = re.compile(
    r"harness-sim: coherency (?P<kind>\S+) address=0x(?P<address>[0-9a-f]+) bytes=(?P<size>\d+) "
    r"pc=0x(?P<pc>[0-9a-f]+) job=(?P<job>-?\d+)(?: at=\S+ op=(?P<operation>\S+))?"
)
_KINDS = {
    "npu-read-dirty": "the NPU read {size} bytes at {place} that {function} had written and not cleaned",
    "npu-write-dirty": "the NPU wrote to lines of {size} bytes at {place} that {function} had left dirty",
    "cpu-read-stale": "{function} read {size} bytes at {place} without invalidating what the NPU wrote",
}


@dataclass(frozen=True)
class Maintenance:
    """One line of the checker: cache maintenance that was missing."""

    kind: str  #: one of npu-read-dirty, npu-write-dirty and cpu-read-stale
    address: int
    size: int  #: bytes
    pc: int  #: of the load, or of the store that made the line dirty
    job: int  #: the NPU's latest, counted from 0 over the whole run; -1 before the first
    operation: str | None  #: of the NPU


def missing_maintenance(console: Iterable[str]) -> tuple[Maintenance, ...]:
    """What the checker said, found among other lines that are no records."""
    return tuple(
        Maintenance(
            kind=match["kind"],
            address=int(match["address"], 16),
            size=int(match["size"]),
            pc=int(match["pc"], 16),
            job=int(match["job"]),
            operation=match["operation"],
        )
        for match in map(_LINE.fullmatch, console)
        if match is not None
    )


def coherency_findings(
    missing: Iterable[Maintenance], run: RunRecord, model: int, symbols: Mapping[str, int]
) -> Iterator[Finding]:
    """One finding for each line that concerns a model of the plan; the first has those of no model too.

    `run` is the whole run, since jobs are counted over it, and `symbols` are those of the image that ran.
    """
    jobs = started_jobs(run)
    functions = sorted((address, name) for name, address in symbols.items() if not name.startswith("$"))
    for each in missing:
        cell, inference = jobs[each.job] if 0 <= each.job < len(jobs) else (None, None)
        if model != (0 if cell is None else cell.model):
            continue
        detail = _KINDS[each.kind].format(
            size=each.size,
            place=_place(each.address, () if cell is None else cell.places),
            function=_function(each.pc, functions),
        )
        operation = "" if each.operation is None else f" ({each.operation})"
        yield Finding(
            "coherency",
            None if cell is None else cell.mode,
            None if inference is None else inference.index,
            detail + operation,
        )


def _place(address: int, places: Iterable[Place]) -> str:
    """The buffer at an address; of several that lay there the last."""
    for place in sorted(places, key=lambda place: place.index or 0, reverse=True):
        if 0 <= address - place.address < place.size:
            return f"{place.name}+{address - place.address:#x} ({address:#x})"
    return f"{address:#x}, which is no buffer,"


def _function(pc: int, functions: list[tuple[int, str]]) -> str:
    """The function that holds an address, which is the last to begin before it."""
    position = bisect_right(functions, (pc, "\uffff")) - 1
    if position < 0:
        return f"{pc:#x}"
    start, name = functions[position]
    return f"{name}+{pc - start:#x}"
