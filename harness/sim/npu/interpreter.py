"""Running a program: operation after operation, until the end or a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.cycles import CycleEstimate
from harness.sim.npu.cycles import Memory as Port
from harness.sim.npu.faults import AccessFault, CommandError, FaultKind, NpuFault
from harness.sim.npu.machine import REGIONS, Machine
from harness.sim.npu.memory import Memory
from harness.sim.npu.program import Program, Step, estimate, follow, prepare

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
    done = 0
    for jumps in count():
        fault, done = _run_steps(program, done, machine)
        fork = program.fork
        if fork is None or fault is not program.fault:
            break
        try:
            program = _way_on(program, machine, jumps)
        except CommandError as error:
            fault = NpuFault(FaultKind.BRANCH, fork.jump.offset, fork.jump.name, str(error))
            break
    return Execution(
        program,
        done,
        program.end if fault is None else fault.offset,
        program.interrupt_mask,
        fault,
        estimate(program, done, config, ports),
    )


def _way_on(program: Program, machine: Machine, jumps: int) -> Program:
    if jumps == MAX_JUMPS:
        raise CommandError(f"the stream jumps more than {MAX_JUMPS} times")
    return follow(program, machine.condition())


def _run_steps(program: Program, done: int, machine: Machine) -> tuple[NpuFault | None, int]:
    """Carry out what follows the first `done` steps; return what stops the NPU, and how many are done."""
    for step in program.steps[done:]:
        stopped = _run_step(step, machine)
        if stopped is not None:
            return stopped, done
        done += 1
    return program.fault, done


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
