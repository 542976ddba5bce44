"""Taking an exception: syndrome, banked registers and vector (Arm DDI 0487, D1.3 and ESR_ELx in D24.2).

The guest sees what hardware would show it: ESR, FAR, ELR and SPSR of the level that the exception goes to,
and the vector that belongs to where it came from.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import IntEnum

from harness.sim.core import Cause, Core, Stop
from harness.sim.counting import INSTRUCTION
from harness.sim.ending import GuestFatal
from harness.sim.loadstore import Access, decode_access
from harness.sim.memory import PAGE, PhysicalMemory
from harness.sim.registers import banked
from harness.sim.translation import Fault, Request, translate

EXTERNAL_ABORT = 0b010000  # DFSC and IFSC, not on a table walk
ALIGNMENT_FAULT = 0b100001
IL = 1 << 25  # the instruction was 32 bits long
WRITE = 1 << 6  # WnR
MAINTENANCE = 1 << 8  # CM
ALL_MASKED = 0xF << 6  # PSTATE.DAIF
HANDLER_STACK = 1  # PSTATE.SP
FROM_SP_EL0, FROM_SAME_LEVEL, FROM_LOWER_LEVEL = 0x000, 0x200, 0x400
LOOP_LENGTH = 16


class ExceptionClass(IntEnum):
    """ESR_ELx.EC. The aborts are those from a lower level; one more means from the same level."""

    UNDEFINED_INSTRUCTION = 0x00  #: "unknown reason" in the manual
    SVC = 0x15
    HVC = 0x16
    SMC = 0x17
    INSTRUCTION_ABORT = 0x20
    DATA_ABORT = 0x24
    BRK = 0x3C


CALLS = {
    Cause.SUPERVISOR_CALL: (ExceptionClass.SVC, 1),
    Cause.BREAKPOINT: (ExceptionClass.BRK, 1),
    Cause.HYPERVISOR_CALL: (ExceptionClass.HVC, 2),
    Cause.MONITOR_CALL: (ExceptionClass.SMC, 3),
}
"""The exceptions an instruction asks for, and the lowest level that takes them."""


@dataclass(frozen=True)
class Trap:
    """One exception before it is taken."""

    target: int  #: the exception level that takes it
    kind: ExceptionClass
    syndrome: int  #: ESR_ELx.ISS
    pc: int  #: ELR_ELx
    far: int | None = None  #: None leaves FAR_ELx alone

    @property
    def is_fault(self) -> bool:
        """Whether the instruction failed, instead of asking for the exception."""
        return self.kind in (
            ExceptionClass.UNDEFINED_INSTRUCTION,
            ExceptionClass.INSTRUCTION_ABORT,
            ExceptionClass.DATA_ABORT,
        )

    def __str__(self) -> str:
        where = "" if self.far is None else f", address {self.far:#x}"
        return f"{self.kind.name.lower().replace('_', ' ')} exception at {self.pc:#x}{where}"


def describe(stop: Stop, core: Core, memory: PhysicalMemory) -> Trap:
    """Return the exception that `stop` stands for; raises GuestFatal where hardware's answer is unknown."""
    target = max(core.el, 1)
    if stop.cause in CALLS:
        kind, lowest = CALLS[stop.cause]
        # ELR is after a call and at a breakpoint, as PC is.
        word = _instruction(stop.pc if kind is ExceptionClass.BRK else stop.pc - INSTRUCTION, core, memory)
        return Trap(max(target, lowest), kind, word >> 5 & 0xFFFF, stop.pc)
    if stop.cause is Cause.UNDEFINED:
        return Trap(target, ExceptionClass.UNDEFINED_INSTRUCTION, 0, stop.pc)
    if stop.cause is Cause.NO_CODE_MEMORY:
        return Trap(target, ExceptionClass.INSTRUCTION_ABORT, EXTERNAL_ABORT, stop.pc, stop.pc)
    if stop.cause is Cause.INSTRUCTION_ABORT:
        found = translate(Request(stop.pc, core.el, is_fetch=True), core, memory)
        if not isinstance(found, Fault):
            raise GuestFatal(f"a fetch from {stop.pc:#x} was refused, but the translation tables allow it")
        return Trap(target, ExceptionClass.INSTRUCTION_ABORT, found.status, stop.pc, stop.pc)
    return _data_abort(stop, target, core, memory)


def take(trap: Trap, core: Core) -> None:
    """Enter the handler of `trap`. Raises GuestFatal when the guest has set no vectors."""
    vectors = core.read_system(banked(trap.target, 12, 0, 0))
    if not vectors:
        raise GuestFatal(f"{trap}, and VBAR_EL{trap.target} is not set")
    origin = core.pstate
    same_level = core.el == trap.target
    from_here = FROM_SAME_LEVEL if origin & HANDLER_STACK else FROM_SP_EL0
    kind = trap.kind + (
        same_level and trap.kind in (ExceptionClass.INSTRUCTION_ABORT, ExceptionClass.DATA_ABORT)
    )
    core.write_system(banked(trap.target, 5, 2, 0), kind << 26 | IL | trap.syndrome)  # ESR
    core.write_system(banked(trap.target, 4, 0, 1), trap.pc)  # ELR
    core.write_system(banked(trap.target, 4, 0, 0), origin)  # SPSR
    if trap.far is not None:
        core.write_system(banked(trap.target, 6, 0, 0), trap.far)  # FAR
    core.set_mode(trap.target << 2 | HANDLER_STACK | ALL_MASKED)
    core.pc = vectors + (from_here if same_level else FROM_LOWER_LEVEL)


class FaultLoop:
    """Notices a guest whose fault handler faults, for ever."""

    def __init__(self) -> None:
        self._recent: deque[Trap] = deque(maxlen=LOOP_LENGTH)

    def note(self, trap: Trap) -> None:
        """Take note of one exception. Raises GuestFatal when it and at most one other are all there is."""
        if not trap.is_fault:
            self._recent.clear()
            return
        self._recent.append(trap)
        if len(self._recent) == LOOP_LENGTH and len(set(self._recent)) <= 2:
            raise GuestFatal(f"{trap}, {LOOP_LENGTH} times in a row: its handler faults")


def _data_abort(stop: Stop, target: int, core: Core, memory: PhysicalMemory) -> Trap:
    word = _instruction(stop.pc, core, memory)
    access = decode_access(word, core)
    if access is None:
        raise GuestFatal(f"an access by the unknown instruction {word:#010x} at {stop.pc:#x} was refused")
    status, far = EXTERNAL_ABORT, access.address
    if stop.cause is Cause.DATA_ABORT:
        status, far = _refusal(access, core, memory)
    syndrome = status | WRITE * access.is_write | MAINTENANCE * access.is_maintenance
    return Trap(target, ExceptionClass.DATA_ABORT, syndrome, stop.pc, far)


def _refusal(access: Access, core: Core, memory: PhysicalMemory) -> tuple[int, int]:
    """Return the fault status code and the address of the first byte that is refused."""
    last = access.address + access.size - 1
    for address in dict.fromkeys((access.address, max(access.address, last & -PAGE))):
        found = translate(Request(address, core.el, is_write=access.is_write), core, memory)
        if isinstance(found, Fault):
            return found.status, address
    if access.address % access.size:  # the one other check that Unicorn makes, for exclusives
        return ALIGNMENT_FAULT, access.address
    raise GuestFatal(f"an access to {access.address:#x} was refused, but the translation tables allow it")


def _instruction(address: int, core: Core, memory: PhysicalMemory) -> int:
    found = translate(Request(address, core.el, is_fetch=True), core, memory)
    word = None if isinstance(found, Fault) else memory.read(found, INSTRUCTION)
    if word is None:
        raise GuestFatal(f"the instruction at {address:#x} cannot be read again")
    return word
