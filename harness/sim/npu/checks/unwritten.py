"""Reads of bytes that nothing has written: neither the driver before the start, nor an earlier operation.

A transfer of bytes of which some were written takes the others along as they are: the compiler copies whole
allocations, with what fills them up (Vela 5.2, GenerateHLCBranchCommands in
regor/compiler/high_level_command_stream_generator.cpp).  Who reads those from the copy is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.checks.finding import Check, CheckFinding
from harness.sim.npu.checks.footprint import Touch
from harness.sim.npu.checks.regions import Region
from harness.sim.npu.checks.visit import Visit
from harness.sim.npu.dma import Transfer
from harness.sim.npu.machine import LUT_BYTES

_ENDS = 2  #: of a transfer; with less, one of them lies outside its buffer
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
        if isinstance(visit.step.operation, Transfer) and len(visit.touches) == _ENDS:
            yield from self._copy(visit, *visit.touches)
            return
        for touch in visit.touches:
            if touch.writes:
                self._write(touch)
            else:
                yield from self._read(visit, touch)

    def _copy(self, visit: Visit, source: Touch, destination: Touch) -> Iterator[CheckFinding]:
        states = source.view(self._states[source.region])
        if states.max() == _UNWRITTEN:
            yield from self._read(visit, source)
        destination.view(self._states[destination.region])[...] = states

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
