"""A command stream made ready to run: every operation with the register values it was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from harness.sim.npu import cycles
from harness.sim.npu.config import NpuConfig
from harness.sim.npu.convolution import convolution
from harness.sim.npu.dma import transfer
from harness.sim.npu.elementwise import elementwise
from harness.sim.npu.faults import CommandError, FaultKind, NpuFault
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import Elementwise, Pooling, Resize
from harness.sim.npu.pooling import pool
from harness.sim.npu.product import product
from harness.sim.npu.registers import Registers
from harness.sim.npu.resize import resize
from harness.sim.npu.stream import Command, is_conditional, trace
from harness.sim.npu.workload import Memories

CACHED_PROGRAMS = 64
"""How many streams stay prepared: one for each network and configuration that one process runs in turn."""

CACHED_WAYS = 64
"""How many ways from one conditional jump to the next stay prepared, over all streams."""

_BRANCH_BYTES = 8


class Operation(Protocol):
    """What an OP command does."""

    def run(self, machine: Machine) -> None:
        """Do it.  Raises CommandError, AccessFault."""
        ...

    def work(self, memories: Memories) -> cycles.Work:
        """Describe it to the cycle estimate."""
        ...


@dataclass(frozen=True)
class Wait:
    """KERNEL_WAIT or DMA_WAIT: operations run one after the other here, so only the time depends on it."""

    wait: cycles.KernelWait | cycles.DmaWait

    def run(self, machine: Machine) -> None:
        """Go on: whatever is waited for has been done."""

    def work(self, _: Memories) -> cycles.Work:
        """Describe the wait to the cycle estimate."""
        return self.wait


@dataclass(frozen=True)
class Step:
    """One operation and the command that starts it."""

    command: Command
    operation: Operation
    block_dependency: int = 0  #: BLOCKDEP


@dataclass(frozen=True)
class Fork:
    """A jump whose condition is known when the operations before it have been carried out."""

    jump: Command
    stream: bytes
    config: NpuConfig
    registers: Registers  #: as they are there


@dataclass(frozen=True, eq=False)
class Program:
    """The operations of a stream, in order, up to its end or the command that cannot be carried out.

    A program with a `fork` ends there, with a fault that says so; `follow` tells how it goes on.
    """

    steps: tuple[Step, ...]
    interrupt_mask: int  #: what OP_STOP and OP_IRQ leave in STATUS.irq_history_mask
    end: int  #: bytes from the start of the stream to where the NPU stops
    fault: NpuFault | None  #: None when the stream reaches OP_STOP
    fork: Fork | None = None


_START = Program((), 0, 0, None)


@lru_cache(maxsize=CACHED_PROGRAMS)
def prepare(stream: bytes, config: NpuConfig) -> Program:
    """Turn a command stream into a program.  What is wrong with the stream becomes the program's `fault`."""
    return _go_on(_START, stream, 0, config, Registers())


@lru_cache(maxsize=CACHED_WAYS)
def follow(program: Program, jumps: bool) -> Program:
    """Return a program with a fork and what comes after it, at the jump's target or behind the jump."""
    fork = program.fork
    if fork is None:
        raise ValueError("the program has no fork")
    offset = fork.jump.fields["target"] if jumps else fork.jump.offset + _BRANCH_BYTES
    return _go_on(program, fork.stream, offset, fork.config, fork.registers.copy())


def _go_on(before: Program, stream: bytes, start: int, config: NpuConfig, registers: Registers) -> Program:
    steps = list(before.steps)
    mask = before.interrupt_mask
    for command in trace(stream, start):
        if isinstance(command, NpuFault):
            return Program(tuple(steps), mask, command.offset, command)
        if is_conditional(command):
            fork = Fork(command, stream, config, registers)
            return Program(tuple(steps), mask, command.offset, _undecided(command), fork)
        if not command.encoding.acts:
            registers.set(command)
        elif command.name in ("OP_STOP", "OP_IRQ"):
            mask |= command.fields["mask"]
            end = command.offset + 4
        elif command.name != "OP_BRANCH":  # a jump has been followed already
            try:
                operation = _operation(command, registers, config)
                steps.append(Step(command, operation, registers.block_dependency))
            except CommandError as error:
                fault = NpuFault(FaultKind.PARSE, command.offset, command.name, str(error))
                return Program(tuple(steps), mask, fault.offset, fault)
    return Program(tuple(steps), mask, end, None)


def _undecided(jump: Command) -> NpuFault:
    detail = "what follows depends on a result, and is known only when the network runs"
    return NpuFault(FaultKind.BRANCH, jump.offset, jump.name, detail)


@lru_cache(maxsize=CACHED_PROGRAMS)
def estimate(
    program: Program, operations: int, config: NpuConfig, memories: tuple[cycles.Memory, ...]
) -> cycles.CycleEstimate:
    """Estimate the cycles of a program's first operations; memories[i] is where region i lies."""
    work = [step.operation.work(memories) for step in program.steps[:operations]]
    return cycles.estimate(work, config.macs, config.memories)


def _operation(command: Command, registers: Registers, config: NpuConfig) -> Operation:
    build = _BUILD.get(command.name)
    if build is None:
        raise CommandError(f"{command.name} is not modelled")
    return build(command, registers, config)


def _convolution(command: Command, registers: Registers, config: NpuConfig) -> Operation:
    if command.fields["weights_from_ifm2"]:
        return product(registers)
    return convolution(registers, config, depthwise=False)


_BUILD: dict[str, Callable[[Command, Registers, NpuConfig], Operation]] = {
    "OP_CONV": _convolution,
    "OP_DEPTHWISE": lambda _, registers, config: convolution(registers, config, depthwise=True),
    "OP_POOL": lambda command, registers, _: pool(registers, command.enum(Pooling, "mode")),
    "OP_ELEMENTWISE": lambda command, registers, _: elementwise(registers, command.enum(Elementwise, "mode")),
    "OP_RESIZE": lambda command, registers, _: resize(registers, command.enum(Resize, "mode")),
    "OP_DMA_START": lambda _command, registers, _config: transfer(registers),
    "OP_DMA_WAIT": lambda command, *_: Wait(cycles.DmaWait(command.fields["outstanding"])),
    "OP_KERNEL_WAIT": lambda command, *_: Wait(cycles.KernelWait(command.fields["outstanding"])),
}
"""How each OP command reads the registers it depends on.  Raises CommandError."""
