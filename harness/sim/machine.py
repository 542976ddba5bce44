"""The board: memory, processor and devices put together, and the loop that runs them to an end.

Lifecycle: build the memory and load it; put the core at the entry point; then run it in slices. After each
slice a signal is looked for and the console's last line is sent; an exception is taken and the core goes on;
anything else is the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from harness.sim.bootloader import switch_on_translation
from harness.sim.coherency import Finding
from harness.sim.core import Cause, Stop
from harness.sim.ending import (
    SHUTDOWN,
    SIMULATED_TIME,
    Ending,
    ExitCode,
    GuestFatal,
    fatal_ending,
    interrupted_ending,
)
from harness.sim.image import Image
from harness.sim.interruption import Interrupted, Interruption
from harness.sim.memory import PhysicalMemory, Window, check_map, make_ram
from harness.sim.npu import EthosU85, JobWatch, NpuConfig, Watch
from harness.sim.npu_checks import NpuChecks
from harness.sim.npu_faults import FaultyNpu, PlannedFault
from harness.sim.npu_port import NpuPort
from harness.sim.output import ConsoleClosed
from harness.sim.parameters import NpuFault, Parameters
from harness.sim.processor import Processor
from harness.sim.run_statistics import Statistics
from harness.sim.uart import Console, Uart

SLICE = 50_000  # instructions; some hundredths of a second of host time at worst
UART_SIZE = 0x1000
ETHOSU_SIZE = 0x4000
NS_PER_MICROSECOND = 1_000


class Machine:
    """One simulated Corstone-1000 with Cortex-A320 and Ethos-U85."""

    def __init__(
        self,
        parameters: Parameters,
        console: Console,
        interruption: Interruption,
        report: Callable[[str], None],
    ) -> None:
        """Build the board; `report` is told of NPU faults as they happen. Raises MemoryMapError."""
        self._parameters = parameters
        self._console = console
        self._interruption = interruption
        self._shut_down = False
        uart, npu, dram, sram = _windows(parameters)
        self._dram = dram
        check_map((uart, npu, dram, sram))
        self.memory = PhysicalMemory(
            (
                make_ram(dram, fill=parameters.fill, cached=parameters.cache_model),
                make_ram(sram, fill=parameters.fill, cached=False),
            )
        )
        self._processor = Processor(
            self.memory, cache_model=parameters.cache_model, cache_check=parameters.cache_check
        )
        self._residue = self._processor.expect_residue() if parameters.entry_caches else None
        self._clock = self._processor.clock
        self._fault = _planned_fault(parameters)
        watches: list[Watch] = [checker.access for checker in self._processor.checkers]
        if self._fault is not None:
            watches.append(self._fault.watch)
        config = NpuConfig(parameters.macs, parameters.system_config)
        self._npu_checks = NpuChecks()
        jobs: list[JobWatch] = [self._npu_checks.enter] if parameters.npu_checks else []
        self._ethosu = EthosU85(config, self.memory, self._clock.now, watches, jobs)
        self._npu = NpuPort(self._ethosu, self._clock, interruption, report)
        self._uart = Uart(console, self._on_eot, parameters.uart_fault_after)
        self._processor.core.map_device(uart, self._uart)
        self._processor.core.map_device(
            npu, self._npu if self._fault is None else FaultyNpu(self._npu, self._fault, self._clock)
        )

    def start(self, image: Image) -> None:
        """Load the application and put the core at its entry. Raises MemoryMapError."""
        for segment in image.segments:
            self.load(segment.address, segment.data, "application")
        self.enter(image.entry)

    def load(self, address: int, data: bytes, source: str) -> None:
        """Write `data` as what comes before the entry does: cleaned, or left in its caches.

        Raises MemoryMapError, which says that `source` was to be loaded.
        """
        if self._residue is None:
            self.memory.load(address, data, source)
        else:
            self.memory.cache(address, data, source)
            self._residue.hold(address, len(data))

    def enter(self, address: int) -> None:
        """Put the core at `address`. Raises MemoryMapError when a boot loader's tables have no room."""
        if self._residue is not None:
            switch_on_translation(self._processor.core, self.memory, self._dram)
        self._processor.enter(self._parameters.entry_el, address)

    def run(self, simulated_limit: int | None) -> Ending:
        """Run to an end, at the latest after `simulated_limit` nanoseconds of virtual time."""
        try:
            while True:
                stop = self._run_slice(simulated_limit)
                self._console.flush()
                if self._shut_down:
                    return SHUTDOWN
                if simulated_limit is not None and self._clock.now() >= simulated_limit:
                    return SIMULATED_TIME
                self._interruption.check()
                if stop.cause is not Cause.SLICE_ENDED:
                    self._processor.take_exception(stop)
        except Interrupted as interrupted:
            self._console.abandon()
            return interrupted_ending(interrupted)
        except ConsoleClosed as closed:
            return Ending(f"Error: {closed}", ExitCode.CONSOLE_CLOSED)
        except GuestFatal as fatal:
            return fatal_ending(fatal)

    def remarks(self) -> tuple[str, ...]:
        """Return what is to be said at the end, a line each.

        Planned faults, missing cache maintenance, misuse of memory by the NPU's streams, events that the NPU
        was asked to count and does not.
        """
        refusals = (f"Warning: Ethos-U85: {refusal}" for refusal in self._ethosu.refusals)
        remarks = (
            self._fault,
            self._uart.fault,
            *self._cache_findings(),
            *self._npu_checks.lines(),
            *refusals,
        )
        return tuple(str(remark) for remark in remarks if remark is not None)

    def statistics(self, wall_time: float) -> Statistics:
        """Return what has been done so far; `wall_time` is what it took, in seconds."""
        spent = os.times()
        return Statistics(
            instructions=self._processor.core.counter.retired,
            simulated_ns=self._clock.now(),
            user_time=spent.user,
            system_time=spent.system,
            wall_time=wall_time,
            npu_jobs=self._npu.jobs,
            npu_cycles=self._npu.cycles,
            cache_findings=len(self._cache_findings()) if self._parameters.cache_check else None,
        )

    def _cache_findings(self) -> list[Finding]:
        return [finding for checker in self._processor.checkers for finding in checker.findings()]

    def _run_slice(self, simulated_limit: int | None) -> Stop:
        core = self._processor.core
        slice_end = core.counter.retired + SLICE
        if simulated_limit is not None:
            slice_end = min(slice_end, simulated_limit - self._clock.skipped)
        core.counter.set_limit(slice_end)
        return core.run()

    def _on_eot(self) -> None:
        if self._parameters.shutdown_on_eot:
            self._shut_down = True
            self._processor.core.counter.set_limit(0)


def _planned_fault(parameters: Parameters) -> PlannedFault | None:
    kind = NpuFault(parameters.npu_fault)
    if kind is NpuFault.NONE:
        return None
    delay = parameters.npu_fault_delay_us * NS_PER_MICROSECOND
    return PlannedFault(kind, parameters.npu_fault_job, delay)


def _windows(parameters: Parameters) -> tuple[Window, Window, Window, Window]:
    return (
        Window("UART0", parameters.uart_base, UART_SIZE),
        Window("Ethos-U85", parameters.ethosu_base, ETHOSU_SIZE),
        Window("DRAM", parameters.dram_base, parameters.dram_size),
        Window("NPU SRAM", parameters.sram_base, parameters.sram_size),
    )
