"""Cache maintenance that is missing, named: who touched which bytes too early, and who left them behind.

Beside each byte of cached RAM the checker keeps whether the CPU has stored to it and not cleaned it since
("dirty"), and whether the NPU has written it and the CPU has neither invalidated nor overwritten it since
("stale"). Three things are findings:

* `npu-read-dirty`: the NPU reads dirty bytes that it has not written itself since, and may get what memory
  held before;
* `cpu-read-stale`: the CPU loads stale bytes, and may get what its cache held before;
* `npu-write-dirty`: the NPU writes to a cache line with dirty bytes, whose eviction may undo the write.

What a real cache happens to do does not matter: any line may be evicted, or fetched ahead, at any time.
Reads concern single bytes, so owners that share a line do not disturb each other by them; only an eviction
concerns the whole line.

A finding is one line of text, which begins with what it is and goes on with `name=value` fields:

    harness-sim: coherency npu-read-dirty address=0xa0000040 bytes=128 pc=0x88201234 job=0 at=0x1c op=OP_CONV

`address` is the first byte concerned, and `bytes` counts from the first to the last in each cache line.
Findings of one kind and one `pc` in neighbouring lines are one; `pc` is that of the load, or of the first
store to the line since it was clean. `job` is the NPU's latest job, counted from 0. `at` and `op` are the NPU
operation's offset in the command stream and its name, QBASE for the fetch of the stream; a load has neither.
`job`, `at` and `op` are those of the first occurrence in the first line.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from unicorn.arm64_const import UC_ARM64_REG_PC

from harness.sim.core import Core
from harness.sim.hooks import library_function
from harness.sim.memory import CACHE_LINE, PAGE, Ram
from harness.sim.npu import Access

DIRTY, STALE = 1, 2  # what a byte may be, and both: see hooks.c
STALE_LOAD_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint64)


class Kind(StrEnum):
    """What was done too early."""

    NPU_READ_DIRTY = "npu-read-dirty"
    CPU_READ_STALE = "cpu-read-stale"
    NPU_WRITE_DIRTY = "npu-write-dirty"


@dataclass(frozen=True)
class Finding:
    """Bytes from `first` up to `end` that were touched too early, and the first occasion."""

    kind: Kind
    pc: int
    first: int
    end: int
    size: int
    job: int
    operation: tuple[int, str] | None = None

    def __str__(self) -> str:
        where = f"address={self.first:#x} bytes={self.size} pc={self.pc:#x} job={self.job}"
        npu = f" at={self.operation[0]:#x} op={self.operation[1]}" if self.operation else ""
        return f"harness-sim: coherency {self.kind} {where}{npu}"

    @property
    def line(self) -> int:
        """Number of the cache line that the last byte is in."""
        return (self.end - 1) // CACHE_LINE


class _Shadow(ctypes.Structure):
    """struct shadow of hooks.c."""

    _fields_ = [
        ("base", ctypes.c_uint64),
        ("state", ctypes.c_void_p),
        ("dirtied_by", ctypes.c_void_p),
        ("pc", ctypes.c_int),
        ("read", ctypes.c_void_p),
        ("on_stale_load", STALE_LOAD_CALLBACK),
    ]


class CoherencyChecker:
    """Keeps the notes on one cached RAM; hooks.c writes those on loads, stores and cache operations."""

    def __init__(self, ram: Ram, core: Core) -> None:
        """Take all bytes as neither dirty nor stale, and hear of what `core` does from now on."""
        self._base = ram.window.base
        self._ram = ram
        self._core = core
        # Zeros that cost nothing before they are written.
        self._state = np.zeros(ram.window.size, np.uint8)
        # Line → pc of the store that dirtied it, zero for a clean line.
        self._dirtied_by = np.zeros(ram.window.size // CACHE_LINE, np.uint64)
        core.on_access(
            ram.window,
            _Shadow(
                base=self._base,
                state=self._state.ctypes.data,
                dirtied_by=self._dirtied_by.ctypes.data,
                pc=UC_ARM64_REG_PC,
                read=library_function("uc_reg_read"),
                on_stale_load=STALE_LOAD_CALLBACK(core.guarded(self._note_stale_load)),
            ),
        )
        self._job = -1
        # One entry for each cache line, in the order of their first occasions.
        self._found: dict[tuple[Kind, int, int], Finding] = {}

    def page(self, address: int) -> tuple[int, int] | None:
        """Return where in this process the notes on a page's bytes, and on its lines, are."""
        if place := self._ram.place(address, PAGE):
            lines = self._dirtied_by[place.start // CACHE_LINE :]
            return self._state[place].ctypes.data, lines.ctypes.data
        return None

    def access(self, access: Access) -> None:
        """Hear of an access by the NPU, just before it is made."""
        if access.opcode == "QBASE":
            self._job += 1
        place = self._ram.place(access.address, access.size)
        if place is None:
            return
        if access.is_write:
            self._state[place] |= STALE
            lines = slice(place.start & -CACHE_LINE, -(-place.stop // CACHE_LINE) * CACHE_LINE)
            concerned = np.flatnonzero(self._state[lines] & DIRTY) + lines.start
        else:
            concerned = np.flatnonzero(self._state[place] == DIRTY) + place.start
        if len(concerned):
            self._note_lines(concerned, access)

    def findings(self) -> Iterator[Finding]:
        """Yield what was found, those in neighbouring lines as one, by kind, program counter and address."""
        merged: Finding | None = None
        for _, finding in sorted(self._found.items()):
            if merged is not None and _neighbours(merged, finding):
                merged = replace(merged, end=finding.end, size=merged.size + finding.size)
                continue
            if merged is not None:
                yield merged
            merged = finding
        if merged is not None:
            yield merged

    def _note_stale_load(self, address: int, size: int) -> None:
        found = Finding(Kind.CPU_READ_STALE, self._core.pc, address, address + size, size, self._job)
        self._note(found)

    def _note_lines(self, places: NDArray[np.int64], access: Access) -> None:
        """Note the dirty bytes at rising `places` of the RAM."""
        lines, firsts = np.unique(places // CACHE_LINE, return_index=True)
        lasts = np.append(firsts[1:], len(places)) - 1
        kind = Kind.NPU_WRITE_DIRTY if access.is_write else Kind.NPU_READ_DIRTY
        for line, first, last in zip(lines, places[firsts], places[lasts], strict=True):
            start, end = self._base + int(first), self._base + int(last) + 1
            operation = access.offset, access.opcode
            self._note(
                Finding(kind, int(self._dirtied_by[line]), start, end, end - start, self._job, operation)
            )

    def _note(self, finding: Finding) -> None:
        key = finding.kind, finding.pc, finding.line
        known = self._found.get(key, finding)
        first, end = min(known.first, finding.first), max(known.end, finding.end)
        self._found[key] = replace(known, first=first, end=end, size=end - first)


def _neighbours(one: Finding, next_one: Finding) -> bool:
    return (one.kind, one.pc, one.line + 1) == (next_one.kind, next_one.pc, next_one.line)
