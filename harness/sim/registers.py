"""System registers and operations by their encoding (Arm DDI 0487, chapters C5.3 and D19)."""

from __future__ import annotations

from typing import NamedTuple


class SystemRegister(NamedTuple):
    """The operands of MRS, MSR and SYS."""

    op0: int
    op1: int
    crn: int
    crm: int
    op2: int

    def __str__(self) -> str:
        return f"S{self.op0}_{self.op1}_C{self.crn}_C{self.crm}_{self.op2}"


def banked(el: int, crn: int, crm: int, op2: int) -> SystemRegister:
    """Return the encoding of a register that EL1, EL2 and EL3 each have."""
    return SystemRegister(3, {1: 0, 2: 4, 3: 6}[el], crn, crm, op2)


def sctlr(el: int) -> SystemRegister:
    """Return SCTLR_ELx of the translation regime that `el` belongs to."""
    return banked(max(el, 1), 1, 0, 0)


MIDR_EL1 = SystemRegister(3, 0, 0, 0, 0)
TTBR0_EL1 = SystemRegister(3, 0, 2, 0, 0)
TTBR1_EL1 = SystemRegister(3, 0, 2, 0, 1)
TCR_EL1 = SystemRegister(3, 0, 2, 0, 2)
CCSIDR_EL1 = SystemRegister(3, 1, 0, 0, 0)
CLIDR_EL1 = SystemRegister(3, 1, 0, 0, 1)
CSSELR_EL1 = SystemRegister(3, 2, 0, 0, 0)
HCR_EL2 = SystemRegister(3, 4, 1, 1, 0)
SCTLR_EL2 = SystemRegister(3, 4, 1, 0, 0)
TTBR0_EL2 = SystemRegister(3, 4, 2, 0, 0)
TCR_EL2 = SystemRegister(3, 4, 2, 0, 2)
MAIR_EL2 = SystemRegister(3, 4, 10, 2, 0)
SCR_EL3 = SystemRegister(3, 6, 1, 1, 0)


def is_translation_control(register: SystemRegister) -> bool:
    """Say whether a write to `register` can change where addresses lead: SCTLR, TCR and TTBR of any level."""
    return register.op0 == 3 and (register.crn == 2 or register[2:] == (1, 0, 0))
