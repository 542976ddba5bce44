"""Reads of bytes that nothing has written: neither the driver before the start, nor an earlier operation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.checks.finding import Check, CheckFinding
from harness.sim.npu.checks.footprint import Touch
from harness.sim.npu.checks.regions import Region
from harness.sim.npu.checks.visit import Visit
from harness.sim.npu.machine import LUT_BYTES

_UNWRITTEN, _PERHAPS, _WRITTEN = 0, 1, 2  #: a byte's state; _PERHAPS is what a scatter may have left out


class Ledger:
    """What has been written so far, byte for byte, to each region and to the table RAM.

    A byte that is read too early is named once: from then on it counts as written.
    """

    def __init__(self, regions: Sequence[Region], all_visits: Iterable[Visit]) -> None:
        """Start with what the driver writes; the visits tell how far regions of unknown size are used."""
        extents = dict.fromkeys(range(len(regions)), 0)
        for visit in all_visits:
            for touch in visit.touches:
                if touch.region is not None:
                    extents[touch.region] = max(extents[touch.region], touch.end)
        self._states: dict[int | None, NDArray[np.uint8]] = {None: np.zeros(LUT_BYTES, np.uint8)}
        for number, region in enumerate(regions):
            self._states[number] = _initial(region, extents[number])

    def enter(self, visit: Visit) -> Iterator[CheckFinding]:
        """Take note of an operation; yield what it reads that was never written.

        A write that goes beyond its buffer counts for all of the buffer that it may have hit.
        """
        for stray in visit.strays:
            if stray.writes and stray.region in self._states:
                self._states[stray.region][stray.offset :] = _WRITTEN
        for touch in visit.touches:
            if touch.writes:
                self._write(touch)
            else:
                yield from self._read(visit, touch)

    def _write(self, touch: Touch) -> None:
        states = touch.view(self._states[touch.region])
        np.maximum(states, _WRITTEN if touch.certain else _PERHAPS, out=states)

    def _read(self, visit: Visit, touch: Touch) -> Iterator[CheckFinding]:
        states = touch.view(self._states[touch.region])
        lowest = int(states.min())
        if lowest == _WRITTEN:
            return
        places = np.argwhere(states == lowest) @ np.array(touch.strides)
        where = touch.offset + int(places.min()), len(places)
        certain = touch.certain and lowest == _UNWRITTEN
        detail = "read, and never written" if certain else "perhaps read, and perhaps never written"
        yield visit.finding(Check.READ_UNWRITTEN, touch, where, detail, certain=certain)
        states[...] = _WRITTEN


def _initial(region: Region, extent: int) -> NDArray[np.uint8]:
    size = extent if region.size is None else region.size
    states = np.full(size, _WRITTEN if region.role.is_protected else _UNWRITTEN, np.uint8)
    for offset, length in region.written:
        states[offset : offset + length] = _WRITTEN
    return states
