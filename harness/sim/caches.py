"""Cache maintenance by address, carried out on the two views of memory (Arm DDI 0487, chapter D7.5.9).

Only operations to the point of coherency move bytes: DC CVAU and the IC operations reach the point of
unification, which the NPU does not see.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from unicorn.arm64_const import UC_ARM64_REG_PSTATE

from harness.sim.coherency import CoherencyChecker
from harness.sim.core import Core, TranslationAbort
from harness.sim.ending import GuestFatal
from harness.sim.hooks import INSTRUCTION_CALLBACK, library_function
from harness.sim.memory import PAGE, PhysicalMemory
from harness.sim.registers import SystemRegister, sctlr
from harness.sim.residue import Residue
from harness.sim.translation import Fault, Request, translate

BY_ADDRESS = {  # DC IVAC, CVAC and CIVAC
    SystemRegister(1, 0, 7, 6, 1),
    SystemRegister(1, 3, 7, 10, 1),
    SystemRegister(1, 3, 7, 14, 1),
}
INVALIDATE_SET_AND_WAY = SystemRegister(1, 0, 7, 6, 2)
CLEAN_SET_AND_WAY = {SystemRegister(1, 0, 7, crm, 2) for crm in (10, 14)}  # DC CSW and CISW
TLB_OPERATIONS = 8  # CRn of TLBI
CACHE_ENABLE = 1 << 2  # SCTLR_ELx.C


PAGES = 1024  # as in hooks.c
KEY_VALID = 4


class _Page(ctypes.Structure):
    """struct page of hooks.c."""

    _fields_ = [
        ("key", ctypes.c_uint64),
        ("cpu", ctypes.c_void_p),
        ("memory", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
        ("dirtied_by", ctypes.c_void_p),
    ]


class _Maintenance(ctypes.Structure):
    """struct maintenance of hooks.c."""

    _fields_ = [
        ("pages", _Page * PAGES),
        ("pstate", ctypes.c_int),
        ("read", ctypes.c_void_p),
        ("otherwise", INSTRUCTION_CALLBACK),
    ]


class CacheMaintenance:
    """Hears every SYS instruction. hooks.c moves the lines of pages that it knows; the rest is done here."""

    def __init__(self, core: Core, memory: PhysicalMemory, checkers: Sequence[CoherencyChecker] = ()) -> None:
        self._core = core
        self._memory = memory
        self._checkers = checkers
        self.residue: Residue | None = None  #: what a boot loader left in the caches, where one is modelled
        # Keeps what was translated until translation changes: firmware maintains thousands of lines at once.
        self._native = _Maintenance(
            pstate=UC_ARM64_REG_PSTATE,
            read=library_function("uc_reg_read"),
            otherwise=core.instruction_callback(lambda which, value, _: self._operation(which, value)),
        )

    def connect(self) -> None:
        """Carry out the core's operations from now on."""
        self._core.on_system_operation(self._native)

    def forget_translations(self) -> None:
        """Translate anew from now on; for every write to a register that controls translation."""
        ctypes.memset(self._native.pages, 0, ctypes.sizeof(self._native.pages))

    def _operation(self, operation: SystemRegister, value: int) -> bool:
        """Do what hooks.c cannot, and leave the operation to the core as well.

        Raises TranslationAbort for an address that does not translate, and GuestFatal for a set and way of a
        cache that is on, unless what is to be cleaned is known: a boot loader's lines.
        """
        if operation in BY_ADDRESS:
            self._make_known(self._core.el, value & -PAGE)
        elif operation.crn == TLB_OPERATIONS:
            self.forget_translations()
        elif operation in CLEAN_SET_AND_WAY and self.residue is not None:
            self.residue.clean(value)
        elif operation in (INVALIDATE_SET_AND_WAY, *CLEAN_SET_AND_WAY) and self._caches_on():
            raise GuestFatal("cache maintenance by set and way while the cache is on is not modelled")
        return False

    def _make_known(self, el: int, page: int) -> None:
        found = translate(Request(page, el), self._core, self._memory)
        if isinstance(found, Fault):
            raise TranslationAbort
        views = self._memory.page(found) or (None, None)
        notes = next(filter(None, (checker.page(found) for checker in self._checkers)), (None, None))
        self._native.pages[page // PAGE % PAGES] = _Page(page | KEY_VALID | el, *views, *notes)

    def _caches_on(self) -> bool:
        return bool(self._core.read_system(sctlr(self._core.el)) & CACHE_ENABLE)
