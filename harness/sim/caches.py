"""Cache maintenance by address, carried out on the two views of memory (Arm DDI 0487, chapter D7.5.9).

Only operations to the point of coherency move bytes: DC CVAU and the IC operations reach the point of
unification, which the NPU does not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.sim.coherency import CoherencyChecker
from harness.sim.core import Core, TranslationAbort
from harness.sim.ending import GuestFatal
from harness.sim.memory import CACHE_LINE, PAGE, PageViews, PhysicalMemory
from harness.sim.registers import SystemRegister, sctlr
from harness.sim.translation import Fault, Request, translate


@dataclass(frozen=True)
class Maintenance:
    """What an operation by address does to a line, cleaning first."""

    cleans: bool = False
    invalidates: bool = False


BY_ADDRESS = {
    SystemRegister(1, 0, 7, 6, 1): Maintenance(invalidates=True),  # IVAC
    SystemRegister(1, 3, 7, 10, 1): Maintenance(cleans=True),  # CVAC
    SystemRegister(1, 3, 7, 14, 1): Maintenance(cleans=True, invalidates=True),  # CIVAC
}
BY_SET_AND_WAY = {SystemRegister(1, 0, 7, crm, 2) for crm in (6, 10, 14)}
TLB_OPERATIONS = 8  # CRn of TLBI
CACHE_ENABLE = 1 << 2  # SCTLR_ELx.C


class CacheMaintenance:
    """Hears every SYS instruction and moves the lines it names."""

    def __init__(self, core: Core, memory: PhysicalMemory, checkers: Sequence[CoherencyChecker] = ()) -> None:
        self._core = core
        self._memory = memory
        self._checkers = checkers
        # (exception level, virtual page) → its bytes, until translation changes. Firmware maintains
        # thousands of lines at a time; finding the bytes of each anew would cost most.
        self._pages: dict[tuple[int, int], PageViews] = {}

    def operation(self, operation: SystemRegister, value: int) -> bool:
        """Carry out one operation, and leave it to the core as well.

        Raises TranslationAbort for an address that does not translate, and GuestFatal for a set and way of a
        cache that is on.
        """
        maintenance = BY_ADDRESS.get(operation)
        if maintenance is not None:
            self._maintain(maintenance, value)
        elif operation.crn == TLB_OPERATIONS:
            self.forget_translations()
        elif operation in BY_SET_AND_WAY and self._caches_on():
            raise GuestFatal("cache maintenance by set and way while the cache is on is not modelled")
        return False

    def forget_translations(self) -> None:
        """Translate anew from now on; for every write to a register that controls translation."""
        self._pages.clear()

    def _maintain(self, maintenance: Maintenance, address: int) -> None:
        key = self._core.el, address & -PAGE
        page = self._pages.get(key)
        if page is None:
            page = self._pages[key] = self._find(*key)
        start = address & PAGE - CACHE_LINE
        line = slice(start, start + CACHE_LINE)
        if maintenance.cleans:
            page.memory[line] = page.cpu[line]
        if maintenance.invalidates:
            page.cpu[line] = page.memory[line]
        for checker in self._checkers:
            checker.maintain(page.address + start, invalidates=maintenance.invalidates)

    def _find(self, el: int, page: int) -> PageViews:
        found = translate(Request(page, el), self._core, self._memory)
        if isinstance(found, Fault):
            raise TranslationAbort
        return self._memory.page(found)

    def _caches_on(self) -> bool:
        return bool(self._core.read_system(sctlr(self._core.el)) & CACHE_ENABLE)
