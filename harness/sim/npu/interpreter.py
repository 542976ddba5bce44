"""Running a program: operation after operation, until the end or a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.cycles import CycleEstimate
from harness.sim.npu.cycles import Memory as Port
from harness.sim.npu.faults import AccessFault, CommandError, FaultKind, NpuFault
from harness.sim.npu.machine import REGIONS, Machine
from harness.sim.npu.memory import Memory
from harness.sim.npu.program import Program, Step, estimate, prepare


@dataclass(frozen=True)
class Execution:
    """What became of a stream."""

    operations: int  #: how many were carried out
    end: int  #: bytes from the start of the stream to where the NPU stopped
    interrupt_mask: int
    fault: NpuFault | None  #: None when OP_STOP was reached
    cycles: CycleEstimate


def run(program: Program, config: NpuConfig, machine: Machine, ports: tuple[Port, ...]) -> Execution:
    """Carry out a program, with region i behind ports[i].  What goes wrong becomes the result's `fault`."""
    fault = program.fault
    done = 0
    for step in program.steps:
        stopped = _run_step(step, machine)
        if stopped is not None:
            fault = stopped
            break
        done += 1
    return Execution(
        done,
        program.end if fault is None else fault.offset,
        program.interrupt_mask,
        fault,
        estimate(program, done, config, ports),
    )


def _run_step(step: Step, machine: Machine) -> NpuFault | None:
    offset, name = step.command.offset, step.command.name
    machine.begin(offset, name)
    try:
        step.operation.run(machine)
    except CommandError as error:
        return NpuFault(FaultKind.PARSE, offset, name, str(error))
    except AccessFault as error:
        return NpuFault(FaultKind.BUS, offset, name, str(error), error.region, error.channel)
    return None


def execute(
    stream: bytes,
    config: NpuConfig,
    memory: Memory,
    base_pointers: Sequence[int],
    ports: Sequence[Port] = (Port.SRAM,) * REGIONS,
) -> Execution:
    """Run a command stream without the registers around it, on an NPU that has just been powered on.

    base_pointers[i] is the address of region i, ports[i] the AXI port it is reached through.
    """
    machine = Machine(memory)
    machine.start(base_pointers)
    return run(prepare(stream, config), config, machine, tuple(ports))
