"""Cache maintenance by address, carried out on the two views of memory (Arm DDI 0487, chapter D7.5.9).

Only operations to the point of coherency move bytes: DC CVAU and the IC operations reach the point of
unification, which the NPU does not see.
"""

from __future__ import annotations

from harness.sim.core import Core
from harness.sim.ending import GuestFatal
from harness.sim.memory import PAGE, PhysicalMemory
from harness.sim.registers import SystemRegister, sctlr
from harness.sim.translation import Fault, Request, translate

IVAC = SystemRegister(1, 0, 7, 6, 1)
CVAC = SystemRegister(1, 3, 7, 10, 1)
CVAP = SystemRegister(1, 3, 7, 12, 1)
CIVAC = SystemRegister(1, 3, 7, 14, 1)
BY_SET_AND_WAY = {SystemRegister(1, 0, 7, crm, 2) for crm in (6, 10, 14)}
CLEANS = {CVAC, CVAP, CIVAC}
INVALIDATES = {IVAC, CIVAC}
TLB_OPERATIONS = 8  # CRn of TLBI
CACHE_ENABLE = 1 << 2  # SCTLR_ELx.C


class CacheMaintenance:
    """Hears every SYS instruction and moves the lines it names."""

    def __init__(self, core: Core, memory: PhysicalMemory) -> None:
        self._core = core
        self._memory = memory
        # (exception level, virtual page) → physical page, until the next change of translation.
        self._pages: dict[tuple[int, int], int] = {}

    def operation(self, operation: SystemRegister, value: int) -> bool:
        """Carry out one operation, and leave it to the core as well.

        Raises GuestFatal for an address that does not translate, and for a set and way of a cache that is on.
        """
        if operation in CLEANS or operation in INVALIDATES:
            address = self._physical(value)
            if operation in CLEANS:
                self._memory.clean_line(address)
            if operation in INVALIDATES:
                self._memory.invalidate_line(address)
        elif operation.crn == TLB_OPERATIONS:
            self.forget_translations()
        elif operation in BY_SET_AND_WAY and self._caches_on():
            raise GuestFatal("cache maintenance by set and way while the cache is on is not modelled")
        return False

    def forget_translations(self) -> None:
        """Translate anew from now on; for every write to a register that controls translation."""
        self._pages.clear()

    def _physical(self, address: int) -> int:
        el, page = self._core.el, address & -PAGE
        if (el, page) not in self._pages:
            found = translate(Request(page, el), self._core, self._memory)
            if isinstance(found, Fault):
                raise GuestFatal(f"cache maintenance at {address:#x}, which does not translate")
            self._pages[el, page] = found
        return self._pages[el, page] | address & PAGE - 1

    def _caches_on(self) -> bool:
        return bool(self._core.read_system(sctlr(self._core.el)) & CACHE_ENABLE)
