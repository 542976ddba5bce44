"""Address translation of EL1 and EL0: a stage 1 walk that says where an address goes, or how it faults.

Unicorn translates by itself and says only *that* an access aborted; ESR needs the fault status code, and
cache maintenance the physical address. The walk follows Arm DDI 0487 chapter D8 for the 4 KiB granule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from harness.sim.ending import GuestFatal
from harness.sim.registers import TCR_EL1, TTBR0_EL1, TTBR1_EL1, SystemRegister, sctlr

PAGE_BITS = 12
INDEX_BITS = 9
LAST_LEVEL = 3
OUTPUT_ADDRESS = 0x0000_FFFF_FFFF_F000
TABLE_OR_PAGE = 0b11
BLOCK = 0b01
ACCESS_FLAG = 1 << 10
READ_ONLY = 1 << 7  # AP[2]
EL0_ALLOWED = 1 << 6  # AP[1]
EL1_NO_EXECUTE = 1 << 53
EL0_NO_EXECUTE = 1 << 54
MMU_ENABLE = 1
GRANULE_4K = {0: 0b00, 1: 0b10}  # TCR.TG0 and TCR.TG1 number the granules differently


class Kind(IntEnum):
    """Fault status code without its level (ESR_ELx.DFSC and IFSC)."""

    TRANSLATION = 0b000100
    ACCESS_FLAG = 0b001000
    PERMISSION = 0b001100
    WALK_EXTERNAL = 0b010100


@dataclass(frozen=True)
class Fault:
    """The walk refused the access."""

    kind: Kind
    level: int

    @property
    def status(self) -> int:
        """DFSC or IFSC."""
        return self.kind | self.level


@dataclass(frozen=True)
class Request:
    """What is to be done at an address."""

    address: int
    el: int
    is_write: bool = False
    is_fetch: bool = False


class Tables(Protocol):
    """Where the walk reads translation tables from."""

    def read(self, address: int, size: int) -> int | None:
        """Return the number at a physical address, None where there is no memory."""


class SystemRegisters(Protocol):
    """Where the walk reads its configuration from."""

    def read_system(self, register: SystemRegister) -> int:
        """Return the value of a system register."""


def translate(request: Request, registers: SystemRegisters, tables: Tables) -> int | Fault:
    """Return the physical address or the fault.

    Raises GuestFatal for what this walk does not know: the MMU of EL2 or EL3, and other granules.
    """
    if not registers.read_system(sctlr(request.el)) & MMU_ENABLE:
        return request.address
    if request.el > 1:
        raise GuestFatal(f"the MMU of EL{request.el} is on, and its translation regime is not modelled")
    upper = request.address >> 63
    control = registers.read_system(TCR_EL1) >> (16 if upper else 0)
    if control >> 14 & 3 != GRANULE_4K[upper]:
        raise GuestFatal("a translation granule other than 4 KiB is not modelled")
    input_bits = 64 - (control & 0x3F)
    level = LAST_LEVEL - (input_bits - PAGE_BITS - 1) // INDEX_BITS
    outside = request.address >> input_bits != ((1 << 64 - input_bits) - 1 if upper else 0)
    if outside or control >> 7 & 1:  # EPD: no walks for this half
        return Fault(Kind.TRANSLATION, 0)
    base = registers.read_system(TTBR1_EL1 if upper else TTBR0_EL1) & 0x0000_FFFF_FFFF_FFFE
    return _walk(request, base, level, input_bits, tables)


def _walk(request: Request, table: int, level: int, input_bits: int, tables: Tables) -> int | Fault:
    address = request.address & (1 << input_bits) - 1
    while True:
        shift = PAGE_BITS + INDEX_BITS * (LAST_LEVEL - level)
        # The first table may be larger or smaller than a page; the input address never reaches past it.
        index = address >> shift if shift + INDEX_BITS >= input_bits else address >> shift & 0x1FF
        descriptor = tables.read(table + 8 * index, 8)
        if descriptor is None:
            return Fault(Kind.WALK_EXTERNAL, level)
        kind = descriptor & 3
        if kind == TABLE_OR_PAGE and level < LAST_LEVEL:
            table = descriptor & OUTPUT_ADDRESS
            level += 1
            continue
        is_leaf = kind == TABLE_OR_PAGE or (kind == BLOCK and level in (1, 2))
        if not is_leaf:
            return Fault(Kind.TRANSLATION, level)
        refusal = _refusal(request, descriptor)
        if refusal is not None:
            return Fault(refusal, level)
        offset = (1 << shift) - 1
        return descriptor & OUTPUT_ADDRESS & ~offset | address & offset


def _refusal(request: Request, descriptor: int) -> Kind | None:
    if not descriptor & ACCESS_FLAG:
        return Kind.ACCESS_FLAG
    if request.is_fetch:
        allowed = not descriptor & (EL1_NO_EXECUTE if request.el else EL0_NO_EXECUTE)
        # What EL0 may write, EL1 may not execute (D8.4, "Instruction execution permissions").
        allowed &= not (request.el and descriptor & EL0_ALLOWED and not descriptor & READ_ONLY)
    else:
        allowed = bool(request.el or descriptor & EL0_ALLOWED) and not (
            request.is_write and descriptor & READ_ONLY
        )
    return None if allowed else Kind.PERMISSION
