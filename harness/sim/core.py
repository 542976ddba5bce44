"""The AArch64 core: Unicorn, with every event that ends a stretch of guest code turned into one `Stop`.

Lifecycle of `run`: it resumes at the current PC; guest code runs, calling device and register handlers on the
way; the first thing the core cannot do by itself stops it; what that was is returned. Nothing is decided
here.

Unicorn delivers no exception, and an exception raised in a callback cannot pass through native code, so a
handler's exception is kept and raised again when Unicorn has returned. What Unicorn does not model: alignment
checks (but for exclusive accesses), and the floating-point traps of CPACR and CPTR.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Protocol

from unicorn import (
    UC_ARCH_ARM64,
    UC_HOOK_INTR,
    UC_HOOK_MEM_READ,
    UC_HOOK_MEM_UNMAPPED,
    UC_HOOK_MEM_WRITE,
    UC_MEM_FETCH_UNMAPPED,
    UC_MODE_ARM,
    UC_PROT_ALL,
)
from unicorn.arm64_const import (
    UC_ARM64_INS_MRS,
    UC_ARM64_INS_MSR,
    UC_ARM64_INS_SYS,
    UC_ARM64_REG_FP,
    UC_ARM64_REG_LR,
    UC_ARM64_REG_PC,
    UC_ARM64_REG_PSTATE,
    UC_ARM64_REG_SP,
    UC_ARM64_REG_SP_EL0,
    UC_ARM64_REG_X0,
)
from unicorn.unicorn_py3.arch.arm64 import UcAArch64
from unicorn.unicorn_py3.unicorn import (
    MMIO_READ_CFUNC,
    MMIO_WRITE_CFUNC,
    Uc,
    UcContext,
    UcError,
    uclib,
)

from harness.sim.counting import InstructionCounter
from harness.sim.ending import GuestFatal
from harness.sim.hooks import INSTRUCTION_CALLBACK, Operands, add_hook, add_instruction_hook
from harness.sim.memory import Ram, Window
from harness.sim.native import native_hooks
from harness.sim.registers import SCR_EL3, SystemRegister

ZERO_REGISTER = 31
# Called for every cache operation, so past the binding, and its conversion of arguments that need none.
_read_register = uclib["uc_reg_read"]
# The encodings that a program uses are few, and making one takes longer than finding it.
_encoding = lru_cache(maxsize=None)(SystemRegister)
NO_EXIT = 0  # the address emu_start() would end at, ignored once exits are enabled and none is set


class Cause(Enum):
    """Why the core stopped. Values above zero are EXCP_* of Unicorn's qemu/target/arm/cpu.h."""

    SLICE_ENDED = -1
    WAITING = -2  #: WFI; PC is after it
    NO_DATA_MEMORY = -3  #: the bus refused a load or store, as it does where there is no memory; PC is at it
    NO_CODE_MEMORY = -4  #: so did a fetch; PC is the address
    UNDEFINED = 1  #: PC is at the instruction
    SUPERVISOR_CALL = 2  #: PC is after the SVC
    INSTRUCTION_ABORT = 3  #: the MMU refused a fetch; PC is the address
    DATA_ABORT = 4  #: the MMU refused a load or store; PC is at it
    BREAKPOINT = 7  #: PC is at the BRK
    HYPERVISOR_CALL = 11  #: PC is after the HVC
    MONITOR_CALL = 13  #: PC is after the SMC

    @property
    def is_fetch(self) -> bool:
        """Whether no block was entered at PC."""
        return self in (Cause.INSTRUCTION_ABORT, Cause.NO_CODE_MEMORY)


EXCEPTIONS = {cause.value: cause for cause in Cause if cause.value > 0}


@dataclass(frozen=True)
class Stop:
    """One end of a stretch of guest code."""

    cause: Cause
    pc: int


class ExternalAbort(Exception):
    """Raised by a device: the bus answers the access with an error."""


class TranslationAbort(Exception):
    """Raised by a handler of system operations: the MMU refuses the address that the operation names."""


class Device(Protocol):
    """A peripheral behind a register window; both accesses may raise ExternalAbort."""

    def read(self, offset: int) -> int:
        """Return the register at `offset` bytes from the start of the window."""

    def write(self, offset: int, value: int) -> None:
        """Write the register at `offset` bytes from the start of the window."""


class Core:
    """One core, its memory map and its hooks."""

    def __init__(self) -> None:
        self._engine = UcAArch64(UC_ARCH_ARM64, UC_MODE_ARM)
        self._engine.ctl_exits_enabled(True)
        self._engine.ctl_set_exits([])
        self._cause: Cause | None = None
        self._failure: BaseException | None = None
        self._aborted: UcContext | None = None
        self._handle = self._engine._uch
        self._value = ctypes.c_uint64()
        self._value_at = ctypes.byref(self._value)
        self._keep: list[object] = []  # callbacks and arrays that native code points to
        self.counter = InstructionCounter(self._engine)
        self._engine.hook_add(UC_HOOK_INTR, self._on_exception)
        self._engine.hook_add(UC_HOOK_MEM_UNMAPPED, self._on_unmapped)

    # ---- memory map

    def map_ram(self, ram: Ram) -> None:
        """Let guest addresses reach the CPU view of `ram`."""
        self._keep.append(ram.cpu)
        self._engine.mem_map_ptr(ram.window.base, ram.window.size, UC_PROT_ALL, ram.cpu.ctypes.data)

    def map_device(self, window: Window, device: Device) -> None:
        """Let guest addresses in `window` reach the registers of `device`."""
        device_read, device_write = device.read, device.write

        def read(_engine: int, offset: int, _size: int, _key: int) -> int:
            try:
                return device_read(offset)
            except ExternalAbort:
                self._stop_for(Cause.NO_DATA_MEMORY)
                return 0
            except BaseException as error:
                self._fail(error)
                return 0

        def write(_engine: int, offset: int, _size: int, value: int, _key: int) -> None:
            try:
                device_write(offset, value)
            except ExternalAbort:
                self._stop_for(Cause.NO_DATA_MEMORY)
            except BaseException as error:
                self._fail(error)

        callbacks = MMIO_READ_CFUNC(read), MMIO_WRITE_CFUNC(write)
        self._keep.append(callbacks)
        status = uclib.uc_mmio_map(
            self._engine._uch, window.base, window.size, callbacks[0], 0, callbacks[1], 0
        )
        if status:
            raise UcError(status)

    # ---- registers

    @property
    def pc(self) -> int:
        """Address of the next instruction; inside a system-register handler, of the one being executed."""
        return self._register(UC_ARM64_REG_PC)

    @pc.setter
    def pc(self, value: int) -> None:
        self._engine.reg_write(UC_ARM64_REG_PC, value)

    @property
    def pstate(self) -> int:
        """NZCV, DAIF and the mode, laid out as in SPSR_ELx."""
        return self._register(UC_ARM64_REG_PSTATE)

    @property
    def el(self) -> int:
        """Current exception level."""
        return self._register(UC_ARM64_REG_PSTATE) >> 2 & 3

    def set_mode(self, pstate: int) -> None:
        """Write PSTATE and change to the stack pointer that it selects."""
        # Unicorn writes the mode but leaves SP alone; ERET and MSR SPSel exchange it in this way.
        self._engine.reg_write(_stack_pointer(self.pstate), self._engine.reg_read(UC_ARM64_REG_SP))
        self._engine.reg_write(UC_ARM64_REG_PSTATE, pstate)
        self._engine.reg_write(UC_ARM64_REG_SP, self._engine.reg_read(_stack_pointer(pstate)))
        # Writing any system register makes Unicorn derive the level it translates code for from PSTATE anew.
        self.write_system(SCR_EL3, self.read_system(SCR_EL3))

    def general(self, number: int, *, stack: bool = False) -> int:
        """Return Xn; number 31 is SP when `stack`, else zero."""
        if number == ZERO_REGISTER:
            return int(self._engine.reg_read(UC_ARM64_REG_SP)) if stack else 0
        return int(self._engine.reg_read(_general(number)))

    def _register(self, number: int) -> int:
        _read_register(self._handle, number, self._value_at)
        return self._value.value

    def read_system(self, register: SystemRegister) -> int:
        """Return a system register as Unicorn holds it."""
        return int(self._engine.cpr_read(*register))

    def write_system(self, register: SystemRegister, value: int) -> None:
        """Write a system register as Unicorn holds it."""
        self._engine.cpr_write(*register, value)

    # ---- handlers

    def on_system_read(self, handler: Callable[[SystemRegister], int | None]) -> None:
        """Ask `handler` for the value at every MRS; None leaves the read to Unicorn."""

        def read(register: SystemRegister, _old: int, target: int) -> bool:
            value = handler(register)
            if value is None:
                return False
            self._engine.reg_write(target, value)
            return True

        self._hook_instruction(UC_ARM64_INS_MRS, read)

    def on_system_write(self, handler: Callable[[SystemRegister, int], bool]) -> None:
        """Tell `handler` of every MSR; True keeps Unicorn from doing it."""
        self._hook_instruction(UC_ARM64_INS_MSR, lambda register, value, _source: handler(register, value))

    def on_system_operation(self, state: ctypes.Structure) -> None:
        """Have hooks.c's `maintain` hear of every SYS (DC, IC, AT, TLBI)."""
        self._keep.append(state)
        add_instruction_hook(self._engine, UC_ARM64_INS_SYS, native_hooks().maintain, state)

    def on_access(self, window: Window, state: ctypes.Structure) -> None:
        """Have hooks.c's `check_load` and `note_store` hear of every access to `window`."""
        self._keep.append(state)
        between = window.base, window.base + window.size - 1
        add_hook(self._engine, UC_HOOK_MEM_READ, native_hooks().check_load, between, state)
        add_hook(self._engine, UC_HOOK_MEM_WRITE, native_hooks().note_store, between, state)

    def _hook_instruction(
        self, instruction: int, handler: Callable[[SystemRegister, int, int], bool]
    ) -> None:
        callback = self.instruction_callback(handler)
        self._keep.append(callback)
        add_instruction_hook(self._engine, instruction, callback)

    def instruction_callback(self, handler: Callable[[SystemRegister, int, int], bool]) -> Any:
        """Return a callback for instruction hooks that gives `handler` encoding, value and register.

        What `handler` raises ends the run, but a TranslationAbort: that becomes a data abort.
        """

        def hook(_engine: int, register: int, at: int, _key: int) -> bool:
            given = Operands.from_address(at)
            try:
                encoding = _encoding(given.op0, given.op1, given.crn, given.crm, given.op2)
                return handler(encoding, given.value, register)
            except TranslationAbort:
                # The rest of the block still runs; what it does to the registers is undone.
                self._aborted = self._engine.context_save()
                self._stop_for(Cause.DATA_ABORT)
                return True
            except BaseException as error:
                self._fail(error)
                return True

        return INSTRUCTION_CALLBACK(hook)

    # ---- running

    def run(self) -> Stop:
        """Run guest code until something stops it.

        Raises GuestFatal for a stop without meaning, and whatever a device or register handler raised.
        """
        self._cause = None
        try:
            self._engine.emu_start(self.pc, NO_EXIT)
        except UcError as error:
            if self._cause is None:
                raise GuestFatal(f"the core stopped at {self.pc:#x}: {error}") from None
        if self._failure is not None:
            raise self._failure
        if self._aborted is not None:
            self._engine.context_restore(self._aborted)
            self._aborted = None
        if self._cause is None:
            # Nothing else makes Unicorn return of itself.
            self._cause = Cause.SLICE_ENDED if self.counter.stopped else Cause.WAITING
        return Stop(self._cause, self.pc)

    def guarded(self, handler: Callable[[int, int], None]) -> Callable[[int, int], None]:
        """Return `handler` as native code may call it: what it raises ends the run."""

        def guarded(first: int, second: int) -> None:
            try:
                handler(first, second)
            except BaseException as error:
                self._fail(error)

        return guarded

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._engine.emu_stop()

    def _stop_for(self, cause: Cause) -> None:
        self._cause = cause
        self._engine.emu_stop()

    def _on_exception(self, engine: Uc, number: int, _data: object) -> None:
        self._cause = EXCEPTIONS.get(number)
        if self._cause is None:
            self._fail(GuestFatal(f"Unicorn's exception {number} at {self.pc:#x} is not modelled"))
        engine.emu_stop()

    def _on_unmapped(
        self, _engine: Uc, access: int, _address: int, _size: int, _value: int, _data: object
    ) -> bool:
        self._cause = Cause.NO_CODE_MEMORY if access == UC_MEM_FETCH_UNMAPPED else Cause.NO_DATA_MEMORY
        return False


def _general(number: int) -> int:
    # Unicorn numbers X29 and X30 apart from the rest.
    return {29: UC_ARM64_REG_FP, 30: UC_ARM64_REG_LR}.get(number, UC_ARM64_REG_X0 + number)


def _stack_pointer(pstate: int) -> int:
    return UC_ARM64_REG_SP_EL0 + (pstate >> 2 & 3 if pstate & 1 else 0)
