"""MMU faults: the fault status code says what refused the access and at which level of the tables."""

from __future__ import annotations

import pytest

IL = 1 << 25
DATA, FETCH = 0x25 << 26 | IL, 0x21 << 26 | IL
WRITE = 0x40
TRANSLATION, ACCESS_FLAG, PERMISSION = 0x4, 0x8, 0xC
HOLE, SECOND_TABLE = 0x4000_0000, 0xC000_0000
BLOCK = 0x20_0000

# level 1 maps devices and DRAM by gigabytes, the last one leads through every kind of entry.
ENABLE_MMU = """
  b enable
  .align 12
  level1:
  .quad 0x0060000000000401, 0, 0x0000000080000705, level2 + 3
  .balign 4096
  level2:
  .quad 0, 0x00000000c0200785, 0x00000000c0400305, level3 + 3
  .balign 4096
  level3:
  .quad 0, 0x0020000080000707, 0x0000000080001707, 0
  .balign 4096
  enable:
  load x1, 0xff
  msr mair_el1, x1
  load x1, 0x100000019
  msr tcr_el1, x1
  adr x1, level1
  msr ttbr0_el1, x1
  isb
  mrs x1, sctlr_el1
  mov x2, #5
  orr x1, x1, x2
  msr sctlr_el1, x1
  isb
"""


def program(instruction: str, address: int) -> str:
    return f"""
      report_traps
      {ENABLE_MMU}
      load x1, {address}
      trap: {instruction}
      after:
      finish
    """


@pytest.mark.parametrize(
    ("instruction", "address", "esr"),
    [
        ("ldr x2, [x1]", HOLE, DATA | TRANSLATION | 1),
        ("ldr x2, [x1]", 1 << 39, DATA | TRANSLATION),
        ("ldr x2, [x1]", SECOND_TABLE, DATA | TRANSLATION | 2),
        ("str x2, [x1]", SECOND_TABLE + BLOCK, DATA | WRITE | PERMISSION | 2),
        ("ldr x2, [x1]", SECOND_TABLE + 2 * BLOCK, DATA | ACCESS_FLAG | 2),
        ("str x2, [x1]", SECOND_TABLE + 3 * BLOCK, DATA | WRITE | TRANSLATION | 3),
        ("br x1", HOLE, FETCH | TRANSLATION | 1),
        ("br x1", SECOND_TABLE + 3 * BLOCK + 0x1000, FETCH | PERMISSION | 3),
    ],
)
def test_the_syndrome_names_the_refusal_and_its_level(execute, instruction, address, esr):
    lines = execute(program(instruction, address)).uart.split()
    assert [int(lines[1], 16), int(lines[2], 16)] == [esr, address]


def test_an_access_across_pages_names_the_page_that_is_missing(execute):
    good_end = SECOND_TABLE + 3 * BLOCK + 0x3000
    lines = execute(program("ldr x2, [x1]", good_end - 4)).uart.split()
    assert [int(lines[1], 16), int(lines[2], 16)] == [DATA | TRANSLATION | 3, good_end]


def test_an_unaligned_exclusive_is_an_alignment_fault(execute):
    lines = execute("report_traps; load x1, 0x80000002; trap: ldxr x2, [x1]; after: finish").uart.split()
    assert [int(lines[1], 16), int(lines[3], 16)] == [DATA | 0x21, 0]


def test_cache_maintenance_goes_through_the_tables_too(execute):
    aliased = SECOND_TABLE + 3 * BLOCK + 0x2000
    numbers = execute(f"""
      {ENABLE_MMU}
      load x1, {aliased}
      mov x2, #77
      str x2, [x1]
      dc cvac, x1
      mov x2, #0
      str x2, [x1]
      dc ivac, x1
      load x1, 0x80001000
      ldr x3, [x1]
      put_hex x3
      finish
    """).numbers
    assert numbers == [77]


def test_memory_is_reached_through_the_tables(execute):
    aliased = SECOND_TABLE + 3 * BLOCK + 0x2010
    numbers = execute(f"""
      {ENABLE_MMU}
      load x1, 0x80001010
      load x2, 0x1234567887654321
      str x2, [x1]
      load x1, {aliased}
      ldr x3, [x1]
      put_hex x3
      finish
    """).numbers
    assert numbers == [0x1234567887654321]
