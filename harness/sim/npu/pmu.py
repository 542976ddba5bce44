"""The performance counters: cycles and events of the running job, spread evenly over its time.

The clock of an idle NPU is gated, so every counter stands still between jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.sim.npu.pmu_events import Event

FIRST_REGISTER, LAST_REGISTER = 0x1180, 0x139C

PMCR, PMCNTENSET, PMCNTENCLR, PMOVSSET, PMOVSCLR, PMINTSET, PMINTCLR = range(0x1180, 0x119C, 4)
PMCCNTR_LO, PMCCNTR_HI = 0x11A0, 0x11A4
PMEVCNTR, PMEVTYPER = 0x1300, 0x1380  #: the first of eight

EVENT_COUNTERS = 8
CYCLE_COUNTER = 31  #: its bit in PMCNTENSET, PMOVSSET, PMINTSET and their CLR twins

_ENABLE, _RESET_EVENTS, _RESET_CYCLES = 1, 2, 4  #: PMCR
_MASK_ENABLE = 8  #: PMCR
_EVENT_COUNTERS_SHIFT = 11  #: PMCR.num_event_cnt
_EVENT_TYPE = 0x3FF  #: PMEVTYPER.EV_TYPE
_WORD = 0xFFFFFFFF

_ALL_COUNTERS = 1 << CYCLE_COUNTER | (1 << EVENT_COUNTERS) - 1
_SET_REGISTER = {
    register: set_register
    for set_register, clear_register in ((PMCNTENSET, PMCNTENCLR), (PMOVSSET, PMOVSCLR), (PMINTSET, PMINTCLR))
    for register in (set_register, clear_register)
}
"""Of each pair of registers that sets and clears a mask, the one that sets it."""
_COUNTER_INDEX = {PMEVCNTR + 4 * index: index for index in range(EVENT_COUNTERS)}
_TYPE_INDEX = {PMEVTYPER + 4 * index: index for index in range(EVENT_COUNTERS)}


@dataclass(frozen=True)
class Activity:
    """What one job does to the counters: when it runs, and how often each event happens in that time."""

    start: int
    end: int
    events: Mapping[Event, int]

    def count(self, event: Event, now: int) -> int:
        """Return how often `event` has happened by the time `now`."""
        elapsed = min(max(now, self.start), self.end) - self.start
        return self.events.get(event, 0) * elapsed // (self.end - self.start)


_IDLE = Activity(0, 1, {})


@dataclass
class _Counter:
    event: Event
    bits: int
    value: int = 0

    def add(self, count: int) -> bool:
        """Count on; return whether the counter went round."""
        self.value += count
        overflowed = self.value >> self.bits > 0
        self.value &= (1 << self.bits) - 1
        return overflowed


class Pmu:
    """One cycle counter and eight event counters.

    An event that the model does not count is not taken: PMEVTYPER reads 0 afterwards, and its number joins
    those in `refused`.  The cycle counter counts the whole of a job; events to start and stop it at
    (PMCCNTR_CFG) are not taken either.
    """

    def __init__(self, refused: Iterable[int] = ()) -> None:
        self.refused = set(refused)
        self._control = 0
        self._masks = {PMCNTENSET: 0, PMOVSSET: 0, PMINTSET: 0}
        self._counters = {index: _Counter(Event.NONE, 32) for index in range(EVENT_COUNTERS)}
        self._counters[CYCLE_COUNTER] = _Counter(Event.CYCLE, 48)
        self._activity = _IDLE
        self._seen = 0  #: the time up to which events have been counted

    @property
    def interrupt(self) -> bool:
        """Whether a counter overflowed whose interrupt is enabled."""
        return bool(self._masks[PMOVSSET] & self._masks[PMINTSET])

    def begin(self, activity: Activity) -> None:
        """Count a new job, from its start on."""
        self.advance(activity.start)
        self._activity = activity

    def stop(self, now: int) -> None:
        """Count no further: the running job was ended at the time `now`."""
        self.advance(now)
        self._activity = _IDLE

    def advance(self, now: int) -> None:
        """Count what has happened up to the time `now`."""
        if self._control & _ENABLE:
            for index, counter in self._counters.items():
                if self._masks[PMCNTENSET] >> index & 1:
                    before = self._activity.count(counter.event, self._seen)
                    if counter.add(self._activity.count(counter.event, now) - before):
                        self._masks[PMOVSSET] |= 1 << index
        self._seen = now

    def read(self, offset: int, now: int) -> int:
        """Return a register."""
        self.advance(now)
        cycles = self._counters[CYCLE_COUNTER].value
        if offset in _SET_REGISTER:
            return self._masks[_SET_REGISTER[offset]]
        if offset == PMCR:
            return self._control | EVENT_COUNTERS << _EVENT_COUNTERS_SHIFT
        if offset == PMCCNTR_LO:
            return cycles & _WORD
        if offset == PMCCNTR_HI:
            return cycles >> 32
        if offset in _COUNTER_INDEX:
            return self._counters[_COUNTER_INDEX[offset]].value
        if offset in _TYPE_INDEX:
            return int(self._counters[_TYPE_INDEX[offset]].event)
        return 0

    def write(self, offset: int, value: int, now: int) -> None:
        """Write a register."""
        self.advance(now)
        cycles = self._counters[CYCLE_COUNTER]
        if offset == PMCR:
            self._write_control(value)
        elif offset in self._masks:
            self._masks[offset] |= value & _ALL_COUNTERS
        elif offset in _SET_REGISTER:
            self._masks[_SET_REGISTER[offset]] &= ~value
        elif offset == PMCCNTR_LO:
            cycles.value = cycles.value >> 32 << 32 | value
        elif offset == PMCCNTR_HI:
            cycles.value = (value & 0xFFFF) << 32 | cycles.value & _WORD
        elif offset in _COUNTER_INDEX:
            self._counters[_COUNTER_INDEX[offset]].value = value
        elif offset in _TYPE_INDEX:
            self._counters[_TYPE_INDEX[offset]].event = self._known(value & _EVENT_TYPE)

    def _known(self, event: int) -> Event:
        if event in list(Event):
            return Event(event)
        self.refused.add(event)
        return Event.NONE

    def _write_control(self, value: int) -> None:
        self._control = value & (_ENABLE | _MASK_ENABLE)
        for index, counter in self._counters.items():
            if value & (_RESET_CYCLES if index == CYCLE_COUNTER else _RESET_EVENTS):
                counter.value = 0
