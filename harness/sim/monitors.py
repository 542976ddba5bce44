"""The performance monitors: a cycle counter and six event counters (Arm DDI 0487, chapter D13).

A counter counts only while PMCR.E and its enable bit are set, so firmware that forgets either reads zero here
as on hardware. Events are INST_RETIRED and CPU_CYCLES; a cycle is a nanosecond.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.sim.ending import GuestFatal
from harness.sim.registers import SystemRegister

EVENT_COUNTERS = 6
CYCLE = 31  # the cycle counter's bit in the enable registers
INST_RETIRED = 0x08
CPU_CYCLES = 0x11
EVENT_MASK = 0xFFFF
LEVEL_FILTERS = 0b11 << 30  # PMEVTYPER.P and U: do not count at EL1, at EL0
IMPLEMENTED = 1 << CYCLE | (1 << EVENT_COUNTERS) - 1

PMCR_E, PMCR_P, PMCR_C = 1, 2, 4
PMCR_LC = 1 << 6  # the cycle counter overflows at 64 bits
PMCR_N = EVENT_COUNTERS << 11

PMCR = SystemRegister(3, 3, 9, 12, 0)
PMCNTENSET = SystemRegister(3, 3, 9, 12, 1)
PMCNTENCLR = SystemRegister(3, 3, 9, 12, 2)
PMOVSCLR = SystemRegister(3, 3, 9, 12, 3)
PMSELR = SystemRegister(3, 3, 9, 12, 5)
PMCEID0 = SystemRegister(3, 3, 9, 12, 6)
PMCEID1 = SystemRegister(3, 3, 9, 12, 7)
PMCCNTR = SystemRegister(3, 3, 9, 13, 0)
PMXEVTYPER = SystemRegister(3, 3, 9, 13, 1)
PMXEVCNTR = SystemRegister(3, 3, 9, 13, 2)
PMUSERENR = SystemRegister(3, 3, 9, 14, 0)
PMOVSSET = SystemRegister(3, 3, 9, 14, 3)
PMINTENSET = SystemRegister(3, 0, 9, 14, 1)
PMINTENCLR = SystemRegister(3, 0, 9, 14, 2)
PMCCFILTR = SystemRegister(3, 3, 14, 15, 7)
COUNTERS = {SystemRegister(3, 3, 14, 8, n): n for n in range(EVENT_COUNTERS)} | {PMCCNTR: CYCLE}
TYPES = {SystemRegister(3, 3, 14, 12, n): n for n in range(EVENT_COUNTERS)} | {PMCCFILTR: CYCLE}


@dataclass
class _Counter:
    bits: int
    kind: int  # PMEVTYPER; for the cycle counter the event stands for PMCCFILTR's
    value: int = 0  # when the source read `since`
    since: int | None = None  # None while it does not count


class PerformanceMonitors:
    """The registers, over two sources: instructions retired and cycles before the current instruction."""

    def __init__(self, instructions: Callable[[], int], cycles: Callable[[], int]) -> None:
        self._sources = {INST_RETIRED: instructions, CPU_CYCLES: cycles}
        self._counters = {n: _Counter(32, 0) for n in range(EVENT_COUNTERS)}
        self._counters[CYCLE] = _Counter(64, CPU_CYCLES)
        self._on = False
        self._enabled = 0
        self._overflowed = 0
        self._selected = 0
        self._user_access = 0
        self._readers: dict[SystemRegister, Callable[[], int]] = {
            PMCR: lambda: PMCR_N | PMCR_LC | PMCR_E * self._on,
            PMCNTENSET: lambda: self._enabled,
            PMCNTENCLR: lambda: self._enabled,
            PMOVSCLR: self._overflows,
            PMOVSSET: self._overflows,
            PMSELR: lambda: self._selected,
            PMCEID0: lambda: 1 << INST_RETIRED | 1 << CPU_CYCLES,
            PMCEID1: lambda: 0,
            PMUSERENR: lambda: self._user_access,
        }
        self._writers: dict[SystemRegister, Callable[[int], None]] = {
            PMCR: self._control,
            PMCNTENSET: lambda bits: self._enable(self._enabled | bits),
            PMCNTENCLR: lambda bits: self._enable(self._enabled & ~bits),
            PMOVSCLR: lambda bits: self._set_overflows(self._overflows() & ~bits),
            PMOVSSET: lambda bits: self._set_overflows(self._overflows() | bits),
            PMSELR: self._select,
            PMUSERENR: self._allow_user,
            PMINTENSET: self._request_interrupt,
            PMINTENCLR: lambda _bits: None,  # none is ever enabled
        }

    def read(self, register: SystemRegister) -> int | None:
        """Return the value of a register of the monitors, None for any other."""
        if register in (PMXEVCNTR, PMXEVTYPER):
            register = self._selected_register(register)
        if register in COUNTERS:
            return self._update(COUNTERS[register]).value
        if register in TYPES:
            kind = self._counters[TYPES[register]].kind
            return kind & ~EVENT_MASK if register == PMCCFILTR else kind
        reader = self._readers.get(register)
        return None if reader is None else reader()

    def write(self, register: SystemRegister, value: int) -> bool:
        """Write a register of the monitors, or return False. Raises GuestFatal for what is not modelled."""
        if register in (PMXEVCNTR, PMXEVTYPER):
            register = self._selected_register(register)
        if register in COUNTERS:
            counter = self._update(COUNTERS[register])
            counter.value = value % (1 << counter.bits)
        elif register in TYPES:
            self._set_type(TYPES[register], value)
        elif register in self._writers:
            self._writers[register](value)
        else:
            return False
        self._switch()
        return True

    def _control(self, value: int) -> None:
        self._on = bool(value & PMCR_E)
        for number in self._counters:
            if value & (PMCR_C if number == CYCLE else PMCR_P):
                self._update(number).value = 0

    def _enable(self, bits: int) -> None:
        self._enabled = bits & IMPLEMENTED

    def _overflows(self) -> int:
        for number in self._counters:
            self._update(number)
        return self._overflowed

    def _set_overflows(self, bits: int) -> None:
        self._overflowed = bits & IMPLEMENTED

    def _select(self, value: int) -> None:
        self._selected = value & 0x1F

    def _allow_user(self, value: int) -> None:
        self._user_access = value & 0xF

    def _request_interrupt(self, bits: int) -> None:
        if bits & IMPLEMENTED:
            raise GuestFatal("a PMU interrupt was enabled, but there is no interrupt controller")

    def _set_type(self, number: int, value: int) -> None:
        counter = self._update(number)
        counter.since = None  # _switch() starts it again on its new source
        counter.kind = value & ~EVENT_MASK | CPU_CYCLES if number == CYCLE else value

    def _selected_register(self, register: SystemRegister) -> SystemRegister:
        """Return the register that PMXEVCNTR or PMXEVTYPER stands for."""
        table = COUNTERS if register == PMXEVCNTR else TYPES
        for candidate, number in table.items():
            if number == self._selected:
                return candidate
        raise GuestFatal(f"PMSELR selects counter {self._selected}, which does not exist")

    def _update(self, number: int) -> _Counter:
        """Bring a counter's value up to now."""
        counter = self._counters[number]
        if counter.since is not None:
            now = self._sources[counter.kind & EVENT_MASK]()
            counter.value += now - counter.since
            counter.since = now
        if counter.value >> counter.bits:
            counter.value %= 1 << counter.bits
            self._overflowed |= 1 << number
        return counter

    def _switch(self) -> None:
        """Start and stop counters as the enable bits say."""
        for number in self._counters:
            counter = self._update(number)
            if not (self._on and self._enabled >> number & 1):
                counter.since = None
            elif counter.since is None:
                counter.since = self._source(number, counter.kind)()

    def _source(self, number: int, kind: int) -> Callable[[], int]:
        if kind & EVENT_MASK not in self._sources:
            raise GuestFatal(f"PMU event {kind & EVENT_MASK:#x} of counter {number} is not modelled")
        if kind & LEVEL_FILTERS:
            raise GuestFatal(f"PMU counter {number} is filtered by exception level, which is not modelled")
        return self._sources[kind & EVENT_MASK]
