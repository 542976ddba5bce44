"""The NPU as software meets it: its registers, and the jobs that a write to CMD starts.

Register offsets and status bits as in Vela 5.2, regor/architecture/ethosu85/ethos_u85_interface.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntFlag

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.cycles import Memory as Port
from harness.sim.npu.faults import BusFault, Channel, FaultKind, NpuFault
from harness.sim.npu.interpreter import Execution, run
from harness.sim.npu.machine import REGIONS, Machine
from harness.sim.npu.memory import Memory
from harness.sim.npu.pmu import FIRST_REGISTER, LAST_REGISTER, Activity, Pmu
from harness.sim.npu.pmu_events import event_counts, refusal
from harness.sim.npu.program import Program, prepare
from harness.sim.npu.watch import Access, Job, JobWatch, Watch

ID, STATUS, CMD, RESET = 0x00, 0x04, 0x08, 0x0C
QBASE, QREAD, QCONFIG, QSIZE, PROT, CONFIG = 0x10, 0x18, 0x1C, 0x20, 0x24, 0x28
POWER_CTRL, REGIONCFG, MEM_ATTR, AXI_SRAM, AXI_EXT = 0x38, 0x3C, 0x40, 0x50, 0x54
BASEP, CURRENT_QREAD = 0x80, 0x27C

MAX_STREAM_BYTES = 16 << 20
"""Longest command stream that is run: the limit of the Linux driver for this NPU."""


class Status(IntFlag):
    """STATUS bits."""

    RUNNING = 1 << 0
    IRQ_RAISED = 1 << 1
    BUS_FAULT = 1 << FaultKind.BUS.value
    CMD_PARSE_ERROR = 1 << FaultKind.PARSE.value
    CMD_END_REACHED = 1 << 5
    PMU_IRQ_RAISED = 1 << 6
    BRANCH_FAULT = 1 << FaultKind.BRANCH.value
    FAULT_ON_EXTERNAL_PORT = 1 << 11


_FAULTS = Status.BUS_FAULT | Status.CMD_PARSE_ERROR | Status.BRANCH_FAULT
_FAULT_CHANNEL_SHIFT, _IRQ_HISTORY_SHIFT = 12, 16


class Cmd(IntFlag):
    """CMD bits."""

    RUN = 1 << 0
    CLEAR_IRQ = 1 << 1
    STOP_REQUEST = 1 << 4


_PRIVILEGE_AND_SECURITY = 0b11  #: RESET and PROT
_WORD, _ADDRESS_TOP = 0xFFFFFFFF, 0xFF
_PORT_BIT = 2  #: MEM_ATTR.axi_port
_COMMAND_PORT = REGIONS  #: after the ports of the regions

_PLAIN_REGISTERS = {
    QBASE: _WORD,
    QBASE + 4: _ADDRESS_TOP,
    QCONFIG: 0x3,
    QSIZE: _WORD,
    POWER_CTRL: 0x3F,
    REGIONCFG: 0xFFFF,
    **{MEM_ATTR + 4 * index: 0xF7 for index in range(4)},
    AXI_SRAM: 0x31F3F,
    AXI_EXT: 0x31F3F,
    **{BASEP + 8 * region: _WORD for region in range(REGIONS)},
    **{BASEP + 8 * region + 4: _ADDRESS_TOP for region in range(REGIONS)},
}
"""Registers that only remember what was written, with the bits they have."""


@dataclass(frozen=True)
class _Job:
    """A command stream that was run, and what STATUS and QREAD show once its time has passed."""

    end: int
    status: Status
    queue_read: int
    irq_history: int


class EthosU85:
    """One NPU on the APB bus.

    1. A write to CMD.run carries out the whole command stream at once.
    2. STATUS says RUNNING until the clock reaches `busy_until`; the cycle counter follows the clock.
    3. Then STATUS has IRQ_RAISED, and CMD_END_REACHED or the bit of the fault; `last_fault` has the reason.
    4. CMD.clear_irq takes the interrupt back.  After a fault the NPU runs again only after a RESET.

    CMD.stop_request ends a job before its time; its results are in memory all the same.  Every stream starts
    with no register set: one that depends on what an earlier stream left is refused.  Registers of the window
    that are not modelled read 0 and ignore writes.
    """

    def __init__(
        self,
        config: NpuConfig,
        memory: Memory,
        clock: Callable[[], int],
        watches: Sequence[Watch] = (),
        job_watches: Sequence[JobWatch] = (),
    ) -> None:
        """Power on.  `clock` returns NPU cycles since then; `watches` are told of every access to memory."""
        self._config = config
        self._memory = memory
        self._watches = watches
        self._job_watches = job_watches
        self._clock = clock
        self.last_fault: NpuFault | None = None
        self._protection = 0
        self._pmu = Pmu()
        self._reset()

    def _reset(self) -> None:
        self._machine = Machine(self._memory, self._watches)
        self._pmu = Pmu(self._pmu.refused)
        self._plain = dict.fromkeys(_PLAIN_REGISTERS, 0)
        self._job: _Job | None = None
        self._status = Status(0)
        self._irq_history = 0
        self._queue_read = 0

    @property
    def busy_until(self) -> int | None:
        """The clock value at which the running job ends; None when idle."""
        self._settle()
        return None if self._job is None else self._job.end

    @property
    def refusals(self) -> tuple[str, ...]:
        """A line for each event that software has asked the counters for in vain since power on."""
        return tuple(refusal(event) for event in sorted(self._pmu.refused))

    def read(self, offset: int) -> int:
        """Return the 32-bit register at a byte offset."""
        self._settle()
        if offset in self._plain:
            return self._plain[offset]
        if FIRST_REGISTER <= offset <= LAST_REGISTER:
            return self._pmu.read(offset, self._clock())
        read_only = {
            ID: self._config.id_word,
            STATUS: self._status_word(),
            QREAD: self._queue_read,
            PROT: self._protection,
            CONFIG: self._config.config_word,
            CURRENT_QREAD: self._queue_read,
        }
        return read_only.get(offset, 0)

    def write(self, offset: int, value: int) -> None:
        """Write the 32-bit register at a byte offset."""
        self._settle()
        if offset in self._plain:
            self._plain[offset] = value & _PLAIN_REGISTERS[offset]
        elif FIRST_REGISTER <= offset <= LAST_REGISTER:
            self._pmu.write(offset, value, self._clock())
        elif offset == RESET:
            self._reset()
            self._protection = value & _PRIVILEGE_AND_SECURITY
        elif offset == CMD:
            self._command(value)

    def _command(self, value: int) -> None:
        if value & Cmd.CLEAR_IRQ:
            self._status &= ~Status.IRQ_RAISED
        self._irq_history &= ~(value >> _IRQ_HISTORY_SHIFT)
        if value & Cmd.STOP_REQUEST and self._job is not None:
            self._pmu.stop(self._clock())
            self._job = None
            self._status |= Status.IRQ_RAISED
        if value & Cmd.RUN and self._job is None and not self._status & _FAULTS:
            self._run()

    def _settle(self) -> None:
        """Let a job that has reached its end show its outcome."""
        job = self._job
        if job is not None and self._clock() >= job.end:
            self._job = None
            self._status |= job.status
            self._irq_history |= job.irq_history
            self._queue_read = job.queue_read

    def _status_word(self) -> int:
        running = 0 if self._job is None else Status.RUNNING
        pmu = Status.PMU_IRQ_RAISED if self._pmu.interrupt else 0
        return int(self._status | running | pmu) | self._irq_history << _IRQ_HISTORY_SHIFT

    def _run(self) -> None:
        """Carry out the stream that QBASE points to; only its outcome is kept for later."""
        start = self._clock()
        ports = self._ports()
        execution = self._execute(ports)
        end = start + max(1, execution.cycles.total)
        self._pmu.begin(Activity(start, end, event_counts(execution.cycles, end - start)))
        self.last_fault = execution.fault
        self._status &= ~Status.CMD_END_REACHED
        status = Status.IRQ_RAISED | _outcome(execution.fault, ports)
        self._job = _Job(end, status, execution.end, execution.interrupt_mask)

    def _execute(self, ports: tuple[Port, ...]) -> Execution:
        bases = tuple(self._address(BASEP + 8 * region) for region in range(REGIONS))
        self._machine.start(bases)
        execution = run(self._fetch(), self._config, self._machine, ports)
        for watch in self._job_watches:
            watch(Job(execution.program, execution.operations, self._config, bases))
        return execution

    def _fetch(self) -> Program:
        """Read the stream; when there is none, return a program that is nothing but this fault."""
        size = self._plain[QSIZE]
        if size % 4 or not 0 < size <= MAX_STREAM_BYTES:
            detail = f"QSIZE is {size}; a stream has whole words and 4 to {MAX_STREAM_BYTES} bytes"
            return Program((), 0, 0, NpuFault(FaultKind.PARSE, 0, "QSIZE", detail))
        address = self._address(QBASE)
        try:
            for watch in self._watches:
                watch(Access(0, "QBASE", Channel.COMMAND, address, size))
            stream = self._memory.view(address, size).tobytes()
        except BusFault as error:
            fault = NpuFault(FaultKind.BUS, 0, "QBASE", str(error), channel=Channel.COMMAND)
            return Program((), 0, 0, fault)
        return prepare(stream, self._config)

    def _address(self, offset: int) -> int:
        return self._plain[offset] | self._plain[offset + 4] << 32

    def _ports(self) -> tuple[Port, ...]:
        """Return the port behind each region, and last the one that commands are read through."""
        regions = [self._plain[REGIONCFG] >> 2 * region & 3 for region in range(REGIONS)]
        attributes = [self._plain[MEM_ATTR + 4 * index] for index in (*regions, self._plain[QCONFIG])]
        return tuple(Port.EXTERNAL if attribute >> _PORT_BIT & 1 else Port.SRAM for attribute in attributes)


def _outcome(fault: NpuFault | None, ports: tuple[Port, ...]) -> Status:
    """Return the STATUS bits that say how a job ended."""
    if fault is None:
        return Status.CMD_END_REACHED
    status = Status(1 << fault.kind.value)
    if fault.channel is not None:
        status |= Status(fault.channel << _FAULT_CHANNEL_SHIFT)
        if ports[_COMMAND_PORT if fault.region is None else fault.region] is Port.EXTERNAL:
            status |= Status.FAULT_ON_EXTERNAL_PORT
    return status
