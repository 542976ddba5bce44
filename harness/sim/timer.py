"""The generic timer: its counters on virtual time (Arm DDI 0487, chapter D12).

There is no interrupt controller, so the comparators cannot do their work; enabling one ends the simulation.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.sim.ending import GuestFatal
from harness.sim.registers import SystemRegister

FREQUENCY = 100_000_000  # Hz
NS_PER_TICK = 10

CNTFRQ_EL0 = SystemRegister(3, 3, 14, 0, 0)
CNTPCT_EL0 = SystemRegister(3, 3, 14, 0, 1)
CNTVCT_EL0 = SystemRegister(3, 3, 14, 0, 2)
CNTVOFF_EL2 = SystemRegister(3, 4, 14, 0, 3)
TIMERS = {(3, 2), (3, 3), (4, 2), (7, 2)}  # (op1, CRm): EL1 physical, EL1 virtual, EL2, secure physical
TIMER_VALUE, TIMER_CONTROL = 0, 1  # op2
ENABLE = 1


class GenericTimer:
    """CNTFRQ, CNTPCT, CNTVCT and CNTVOFF."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._frequency = FREQUENCY
        self._offset = 0

    def read(self, register: SystemRegister) -> int | None:
        """Return a register of the timer, None for any other; raises GuestFatal for a down-counter."""
        if register == CNTVCT_EL0:
            return (self._now() // NS_PER_TICK - self._offset) % 2**64
        if register == CNTPCT_EL0:
            return self._now() // NS_PER_TICK
        if register == CNTFRQ_EL0:
            return self._frequency
        if register == CNTVOFF_EL2:
            return self._offset
        if _is_timer(register) and register.op2 == TIMER_VALUE:
            raise GuestFatal(f"a timer's down-counter ({register}) is not modelled")
        return None

    def write(self, register: SystemRegister, value: int) -> bool:
        """Write a register of the timer, or return False. Raises GuestFatal when a comparator is enabled."""
        if register == CNTFRQ_EL0:
            self._frequency = value & 0xFFFF_FFFF
        elif register == CNTVOFF_EL2:
            self._offset = value
        elif _is_timer(register) and register.op2 == TIMER_CONTROL and value & ENABLE:
            raise GuestFatal(f"a timer was enabled ({register}), but there is no interrupt controller")
        else:
            return False
        return True


def _is_timer(register: SystemRegister) -> bool:
    return register.crn == 14 and (register.op1, register.crm) in TIMERS
