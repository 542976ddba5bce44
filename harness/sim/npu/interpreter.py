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
from harness.sim.npu.program import Fork, Program, Step, estimate, joined, prepare

MAX_JUMPS = 10_000
"""Most conditional jumps of one job: a loop that takes more is taken for one without an end."""


@dataclass(frozen=True)
class Execution:
    """What became of a stream."""

    program: Program  #: the way that was taken where there were several
    operations: int  #: how many were carried out
    end: int  #: bytes from the start of the stream to where the NPU stopped
    interrupt_mask: int
    fault: NpuFault | None  #: None when OP_STOP was reached
    cycles: CycleEstimate


def run(program: Program, config: NpuConfig, machine: Machine, ports: tuple[Port, ...]) -> Execution:
    """Carry out a program, with region i behind ports[i].  What goes wrong becomes the result's `fault`."""
    parts = [program]
    done = 0
    while True:
        part = parts[-1]
        fault, carried_out = _run_steps(part, machine)
        done += carried_out
        if part.fork is None or fault is not part.fault:
            break
        if len(parts) > MAX_JUMPS:
            fault = _at(part.fork, f"the stream jumps more than {MAX_JUMPS} times")
            break
        try:
            parts.append(part.fork.way(jumps=machine.condition()))
        except CommandError as error:
            fault = _at(part.fork, str(error))
            break
    taken = joined(tuple(parts))
    return Execution(
        taken,
        done,
        taken.end if fault is None else fault.offset,
        taken.interrupt_mask,
        fault,
        estimate(taken, done, config, ports),
    )


def _at(fork: Fork, detail: str) -> NpuFault:
    return NpuFault(FaultKind.BRANCH, fork.jump.offset, fork.jump.name, detail)


def _run_steps(program: Program, machine: Machine) -> tuple[NpuFault | None, int]:
    """Carry out a program's own steps; return what stops the NPU, and how many it has carried out."""
    for done, step in enumerate(program.steps):
        stopped = _run_step(step, machine)
        if stopped is not None:
            return stopped, done
    return program.fault, len(program.steps)


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
