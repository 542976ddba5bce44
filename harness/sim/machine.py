"""The board: memory, devices and core put together, and the loop that runs them to an end.

Lifecycle: build the memory and load it; put the core at the entry point; then run it in slices. After each
slice a signal is looked for and the console's last line is sent; an exception is taken and the core goes on;
anything else is the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from harness.sim.caches import CacheMaintenance
from harness.sim.clock import VirtualClock
from harness.sim.core import Cause, Core, Stop
from harness.sim.ending import (
    SHUTDOWN,
    SIMULATED_TIME,
    Ending,
    ExitCode,
    GuestFatal,
    fatal_ending,
    interrupted_ending,
)
from harness.sim.exceptions import ALL_MASKED, HANDLER_STACK, FaultLoop, describe, take
from harness.sim.image import Image
from harness.sim.interruption import Interrupted, Interruption
from harness.sim.memory import PhysicalMemory, make_ram
from harness.sim.monitors import PerformanceMonitors
from harness.sim.parameters import Parameters
from harness.sim.registers import HCR_EL2, MIDR_EL1, SCR_EL3, SystemRegister, is_translation_control
from harness.sim.run_statistics import Statistics
from harness.sim.timer import GenericTimer
from harness.sim.uart import Console, ConsoleClosed, Uart

SLICE = 250_000  # instructions; a tenth to a quarter of a second of host time at worst
UART_SIZE = 0x1000
CORTEX_A320_R0P0 = 0x410F_D8F0

# What the levels above the entry's would have set: RW, HCE and NS of SCR_EL3, RW of HCR_EL2.  Without them Unicorn
# stays in EL2 on an ERET, and translates EL1's addresses by the rules of AArch32.
LEFT_BY_HIGHER_LEVELS = ((3, SCR_EL3, 0x501), (2, HCR_EL2, 1 << 31))


class Machine:
    """One simulated Corstone-1000 with Cortex-A320."""

    def __init__(
        self,
        parameters: Parameters,
        console: Console,
        interruption: Interruption,
        report: Callable[[str], None],
    ) -> None:
        self._parameters = parameters
        self._console = console
        self._interruption = interruption
        self._report = report
        self.memory = PhysicalMemory(
            (
                make_ram(
                    "DRAM",
                    parameters.dram_base,
                    parameters.dram_size,
                    fill=parameters.fill,
                    cached=parameters.cache_model,
                ),
                make_ram(
                    "NPU SRAM", parameters.sram_base, parameters.sram_size, fill=parameters.fill, cached=False
                ),
            )
        )
        self._core = Core()
        self.clock = VirtualClock(self._core.counter)
        self._caches = CacheMaintenance(self._core, self.memory)
        self._monitors = PerformanceMonitors(self._instructions_now, self._time_now)
        self._timer = GenericTimer(self._time_now)
        self._shut_down = False
        self._connect()

    def start(self, image: Image) -> None:
        """Load the application and put the core at its entry.  Raises MemoryMapError."""
        for segment in image.segments:
            self.memory.load(segment.address, segment.data, "application")
        self._core.set_mode(self._parameters.entry_el << 2 | HANDLER_STACK | ALL_MASKED)
        for level, register, value in LEFT_BY_HIGHER_LEVELS:
            if level > self._parameters.entry_el:
                self._core.write_system(register, value)
        self._core.pc = image.entry

    def run(self, simulated_limit: int | None) -> Ending:
        """Run to an end, at the latest after `simulated_limit` nanoseconds of virtual time."""
        faults = FaultLoop()
        try:
            while True:
                stop = self._run_slice(simulated_limit)
                self._console.flush()
                if self._shut_down:
                    return SHUTDOWN
                if simulated_limit is not None and self.clock.now() >= simulated_limit:
                    return SIMULATED_TIME
                self._interruption.check()
                if stop.cause is not Cause.SLICE_ENDED:
                    self._take_exception(stop, faults)
        except Interrupted as interrupted:
            self._console.abandon()
            return interrupted_ending(interrupted)
        except ConsoleClosed as closed:
            return Ending(f"Error: {closed}", ExitCode.CONSOLE_CLOSED)
        except GuestFatal as fatal:
            return fatal_ending(fatal)

    def statistics(self, wall_time: float) -> Statistics:
        """Return what has been done so far; `wall_time` is what it took, in seconds."""
        spent = os.times()
        return Statistics(
            instructions=self._core.counter.retired,
            simulated_ns=self.clock.now(),
            user_time=spent.user,
            system_time=spent.system,
            wall_time=wall_time,
            npu_jobs=0,
            npu_cycles=0,
        )

    def _run_slice(self, simulated_limit: int | None) -> Stop:
        counter = self._core.counter
        slice_end = counter.retired + SLICE
        if simulated_limit is not None:
            slice_end = min(slice_end, simulated_limit - self.clock.skipped)
        counter.set_limit(slice_end)
        return self._core.run()

    def _take_exception(self, stop: Stop, faults: FaultLoop) -> None:
        if stop.cause is Cause.WAITING:
            raise GuestFatal(f"WFI before {stop.pc:#x}, and no interrupt can come")
        trap = describe(stop, self._core, self.memory)
        faults.note(trap)
        if not stop.cause.is_fetch:
            self._core.counter.leave_block(stop.pc)
        take(trap, self._core)

    def _connect(self) -> None:
        """Put memory, devices and system registers in the core's reach."""
        for ram in self.memory.rams:
            self._core.map_ram(ram)
        uart = Uart(self._console, self._on_eot)
        self._core.map_device(self._parameters.uart_base, UART_SIZE, uart)
        self._core.on_system_read(self._read_system)
        self._core.on_system_write(self._write_system)
        if self._parameters.cache_model:
            self._core.on_system_operation(self._caches.operation)

    def _on_eot(self) -> None:
        if self._parameters.shutdown_on_eot:
            self._shut_down = True
            self._core.counter.set_limit(0)

    def _read_system(self, register: SystemRegister) -> int | None:
        if register == MIDR_EL1:
            return CORTEX_A320_R0P0
        value = self._monitors.read(register)
        return self._timer.read(register) if value is None else value

    def _write_system(self, register: SystemRegister, value: int) -> bool:
        if is_translation_control(register):
            self._caches.forget_translations()
        return self._monitors.write(register, value) or self._timer.write(register, value)

    def _instructions_now(self) -> int:
        return self._core.counter.retired_before(self._core.pc)

    def _time_now(self) -> int:
        return self.clock.before(self._core.pc)
