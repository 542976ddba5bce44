"""The Cortex-A320 as the guest sees it: the core with its counters, timer, caches and exceptions.

Unicorn's own values of these registers are those of a Cortex-A72 and follow the host's clock.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.sim.caches import CacheMaintenance
from harness.sim.clock import VirtualClock
from harness.sim.coherency import CoherencyChecker
from harness.sim.core import Cause, Core, Stop
from harness.sim.ending import Idle
from harness.sim.exceptions import ALL_MASKED, HANDLER_STACK, FaultLoop, describe, take
from harness.sim.memory import PhysicalMemory
from harness.sim.monitors import PerformanceMonitors
from harness.sim.registers import (
    CCSIDR_EL1,
    CLIDR_EL1,
    CSSELR_EL1,
    HCR_EL2,
    MIDR_EL1,
    SCR_EL3,
    SystemRegister,
    is_translation_control,
)
from harness.sim.residue import Geometry, Residue, data_cache_levels
from harness.sim.timer import GenericTimer

CORTEX_A320_R0P0 = 0x410F_D8F0

# What the levels above the entry's would have set: RW, HCE and NS of SCR_EL3, RW of HCR_EL2. Without them
# Unicorn stays in EL2 on an ERET, and translates EL1's addresses by the rules of AArch32.
LEFT_BY_HIGHER_LEVELS = ((3, SCR_EL3, 0x501), (2, HCR_EL2, 1 << 31))


class Processor:
    """One core and what belongs to it, on the RAM of `memory`."""

    def __init__(self, memory: PhysicalMemory, *, cache_model: bool, cache_check: bool = False) -> None:
        self.core = Core()
        self.clock = VirtualClock(self.core.counter)
        self._memory = memory
        self.checkers = [
            CoherencyChecker(ram, self.core) for ram in memory.rams if cache_check and ram.is_cached
        ]
        self._caches = CacheMaintenance(self.core, memory, self.checkers)
        self._monitors = PerformanceMonitors(self._instructions_now, self._time_now)
        self._timer = GenericTimer(self._time_now)
        self._faults = FaultLoop()
        for ram in memory.rams:
            self.core.map_ram(ram)
        self.core.on_system_read(self._read)
        self.core.on_system_write(self._write)
        if cache_model:
            self._caches.connect()

    def expect_residue(self) -> Residue:
        """Return what is to be told of the lines that a boot loader leaves in the caches."""
        residue = Residue(self._memory, tuple(self._data_caches()))
        self._caches.residue = residue
        return residue

    def enter(self, level: int, address: int) -> None:
        """Put the core at `address` as the stage before it would: at `level`, all masked."""
        self.core.set_mode(level << 2 | HANDLER_STACK | ALL_MASKED)
        for higher, register, value in LEFT_BY_HIGHER_LEVELS:
            if higher > level:
                self.core.write_system(register, value)
        self.core.pc = address

    def take_exception(self, stop: Stop) -> None:
        """Enter the guest's handler for `stop`. Raises GuestFatal when there is none that could go on."""
        if stop.cause is Cause.WAITING:
            raise Idle(f"WFI before {stop.pc:#x}, and no interrupt can come")
        trap = describe(stop, self.core, self._memory)
        self._faults.note(trap)
        if not stop.cause.is_fetch:
            self.core.counter.leave_block(stop.pc)
        take(trap, self.core)

    def _data_caches(self) -> Iterator[Geometry]:
        for level in range(data_cache_levels(self.core.read_system(CLIDR_EL1))):
            self.core.write_system(CSSELR_EL1, level << 1)
            yield Geometry.from_register(self.core.read_system(CCSIDR_EL1))
        self.core.write_system(CSSELR_EL1, 0)

    def _read(self, register: SystemRegister) -> int | None:
        if register == MIDR_EL1:
            return CORTEX_A320_R0P0
        value = self._monitors.read(register)
        return self._timer.read(register) if value is None else value

    def _write(self, register: SystemRegister, value: int) -> bool:
        if is_translation_control(register):
            self._caches.forget_translations()
        return self._monitors.write(register, value) or self._timer.write(register, value)

    def _instructions_now(self) -> int:
        return self.core.counter.retired_before(self.core.pc)

    def _time_now(self) -> int:
        return self.clock.before(self.core.pc)
