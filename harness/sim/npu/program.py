"""A command stream made ready to run: every operation with the register values it was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import or_
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
"""How many streams, or parts of some, stay prepared: what one process runs in turn."""

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

    def way(self, *, jumps: bool) -> Program:
        """Return what follows, up to the next such jump: from the jump's target, or from behind the jump."""
        start = self.jump.fields["target"] if jumps else self.jump.offset + _BRANCH_BYTES
        return _part(self.stream, self.config, start, self.registers)


@dataclass(frozen=True, eq=False)
class Program:
    """The operations of a stream, in order, up to its end or the command that cannot be carried out.

    A program with a `fork` ends there, with a fault that says so.
    """

    steps: tuple[Step, ...]
    interrupt_mask: int  #: what OP_STOP and OP_IRQ leave in STATUS.irq_history_mask
    end: int  #: bytes from the start of the stream to where the NPU stops
    fault: NpuFault | None  #: None when the stream reaches OP_STOP
    fork: Fork | None = None


@lru_cache(maxsize=CACHED_PROGRAMS)
def prepare(stream: bytes, config: NpuConfig) -> Program:
    """Turn a command stream into a program.  What is wrong with the stream becomes the program's `fault`."""
    return _part(stream, config, 0, Registers())


@lru_cache(maxsize=CACHED_PROGRAMS)
def joined(parts: tuple[Program, ...]) -> Program:
    """Return the way through a stream as one program; each part is what followed the fork before it."""
    if len(parts) == 1:
        return parts[0]
    steps = tuple(step for part in parts for step in part.steps)
    mask = reduce(or_, (part.interrupt_mask for part in parts))
    return replace(parts[-1], steps=steps, interrupt_mask=mask)


@lru_cache(maxsize=CACHED_PROGRAMS)
def _part(stream: bytes, config: NpuConfig, start: int, before: Registers) -> Program:
    """Return the operations from byte `start` on.  A loop has the same part again and again."""
    registers = before.copy()
    steps: list[Step] = []
    mask = 0
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
