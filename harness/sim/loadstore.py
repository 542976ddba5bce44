"""Where a load or store goes: the A64 encodings, decoded as far as an abort's FAR and ESR need it.

Encodings are those of Arm DDI 0487 section C4.1, "Loads and stores", and of the DC and IC operations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class RegisterFile(Protocol):
    """The registers that addresses are made of."""

    @property
    def pc(self) -> int:
        """Address of the instruction."""

    def general(self, number: int, *, stack: bool = False) -> int:
        """Return Xn; number 31 is SP when `stack`, else zero."""


@dataclass(frozen=True)
class Access:
    """The bytes that one instruction touches."""

    address: int
    size: int
    is_write: bool
    is_maintenance: bool = False  #: a cache operation by address


def _bits(word: int, high: int, low: int) -> int:
    return word >> low & (1 << high - low + 1) - 1


def _signed(word: int, high: int, low: int) -> int:
    value = _bits(word, high, low)
    return value - (value >> high - low << high - low + 1)


def _base(word: int, registers: RegisterFile) -> int:
    return registers.general(_bits(word, 9, 5), stack=True)


def _single_size(word: int) -> int:
    """Return the bytes of a register load or store; a 128-bit one borrows a bit of opc."""
    wide = _bits(word, 26, 26) and _bits(word, 23, 23)
    return 1 << _bits(word, 31, 30) + 4 * wide


def _single_writes(word: int) -> bool:
    opc = _bits(word, 23, 22)
    return opc in (0, 2) if _bits(word, 26, 26) else opc == 0


def _unsigned_offset(word: int, registers: RegisterFile) -> Access:
    size = _single_size(word)
    return Access(_base(word, registers) + _bits(word, 21, 10) * size, size, _single_writes(word))


def _signed_offset(word: int, registers: RegisterFile) -> Access:
    post_index = _bits(word, 11, 10) == 1
    offset = 0 if post_index else _signed(word, 20, 12)
    return Access(_base(word, registers) + offset, _single_size(word), _single_writes(word))


def _register_offset(word: int, registers: RegisterFile) -> Access:
    size = _single_size(word)
    offset = registers.general(_bits(word, 20, 16))
    if not _bits(word, 13, 13):  # UXTW or SXTW
        offset &= 0xFFFF_FFFF
        if _bits(word, 15, 15):
            offset -= offset >> 31 << 32
    shift = size.bit_length() - 1 if _bits(word, 12, 12) else 0
    return Access(_base(word, registers) + (offset << shift), size, _single_writes(word))


def _pair(word: int, registers: RegisterFile) -> Access:
    simd = _bits(word, 26, 26)
    opc = _bits(word, 31, 30)
    size = 4 << opc if simd else 4 << (opc >> 1)
    post_index = _bits(word, 24, 23) == 1
    scale = 4 if opc == 1 and not simd else size  # LDPSW loads words
    offset = 0 if post_index else _signed(word, 21, 15) * scale
    return Access(_base(word, registers) + offset, 2 * size, not _bits(word, 22, 22))


def _literal(word: int, registers: RegisterFile) -> Access:
    opc = _bits(word, 31, 30)
    size = 4 << opc if _bits(word, 26, 26) else 8 if opc == 1 else 4
    return Access(registers.pc + 4 * _signed(word, 23, 5), size, is_write=False)


def _exclusive(word: int, registers: RegisterFile) -> Access:
    return Access(_base(word, registers), 1 << _bits(word, 31, 30), not _bits(word, 22, 22))


def _atomic(word: int, registers: RegisterFile) -> Access:
    # An atomic reports itself as a read where a read would have aborted too (ESR_ELx.WnR).
    return Access(_base(word, registers), 1 << _bits(word, 31, 30), is_write=False)


def _structure(word: int, registers: RegisterFile) -> Access:
    return Access(_base(word, registers), 1, not _bits(word, 22, 22))


def _maintenance(word: int, registers: RegisterFile) -> Access:
    # Cache operations abort as writes (ESR_ELx.CM).
    return Access(registers.general(_bits(word, 4, 0)), 1, is_write=True, is_maintenance=True)


# (mask, value, decoder); the first row that matches wins.
_ENCODINGS: tuple[tuple[int, int, Callable[[int, RegisterFile], Access]], ...] = (
    (0x3F00_0000, 0x0800_0000, _exclusive),
    (0x3B00_0000, 0x1800_0000, _literal),
    (0x3A00_0000, 0x2800_0000, _pair),
    (0x3B00_0000, 0x3900_0000, _unsigned_offset),
    (0x3B20_0000, 0x3800_0000, _signed_offset),
    (0x3B20_0C00, 0x3820_0800, _register_offset),
    (0x3F20_0C00, 0x3820_0000, _atomic),
    (0xBE00_0000, 0x0C00_0000, _structure),
    (0xFFF8_F000, 0xD508_7000, _maintenance),
)


def decode_access(word: int, registers: RegisterFile) -> Access | None:
    """Return what the instruction `word` at the current PC touches, None when it is no load, store or DC."""
    for mask, value, decoder in _ENCODINGS:
        if word & mask == value:
            access = decoder(word, registers)
            return Access(access.address % 2**64, access.size, access.is_write, access.is_maintenance)
    return None
