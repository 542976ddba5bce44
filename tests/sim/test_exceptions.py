"""What a guest reads back after an exception: ESR, FAR, ELR, SPSR, and that ERET goes on after it."""

from __future__ import annotations

import pytest

IL = 1 << 25
EL1H_MASKED = 0x3C5


def program(instruction: str, setup: str = "") -> str:
    return f"""
      report_traps
      {setup}
      trap: {instruction}
      nop
      after:
      put_byte '!'
      finish
    """


@pytest.mark.parametrize(
    ("instruction", "setup", "esr", "far", "elr"),
    [
        ("svc #7", "", 0x15 << 26 | IL | 7, 0, 4),
        ("brk #9", "", 0x3C << 26 | IL | 9, 0, 0),
        (".word 0", "", IL, 0, 0),
        ("ldr x2, [x1, #16]", "mov x1, #0x5000", 0x25 << 26 | IL | 0x10, 0x5010, 0),
        ("str x2, [x1, #24]!", "mov x1, #0x5000", 0x25 << 26 | IL | 0x50, 0x5018, 0),
        ("ldrb w2, [x1], #1", "mov x1, #0x5003", 0x25 << 26 | IL | 0x10, 0x5003, 0),
        ("stp x2, x3, [x1, #-16]", "mov x1, #0x5000", 0x25 << 26 | IL | 0x50, 0x4FF0, 0),
        ("ldr w2, [x1, w3, sxtw #2]", "mov x1, #0x5000; mov w3, #-4", 0x25 << 26 | IL | 0x10, 0x4FF0, 0),
        ("ldr q0, [x1, #32]", "mov x1, #0x5000", 0x25 << 26 | IL | 0x10, 0x5020, 0),
        ("ldxr x2, [x1]", "mov x1, #0x5000", 0x25 << 26 | IL | 0x10, 0x5000, 0),
    ],
)
def test_the_guest_reads_the_syndrome_and_returns(execute, instruction, setup, esr, far, elr):
    lines = execute(program(instruction, setup)).uart.split()
    assert [int(line, 16) for line in lines[:5]] == [0x200, esr, far, elr, EL1H_MASKED]
    assert lines[5][0] == "!"


def test_a_fetch_from_nowhere_is_an_instruction_abort_at_its_target(execute):
    numbers = execute(program("br x1", "mov x1, #0x5000")).uart.split()
    esr, far = int(numbers[1], 16), int(numbers[2], 16)
    assert (esr, far) == (0x21 << 26 | IL | 0x10, 0x5000)


def test_an_exception_on_sp_el0_uses_the_first_vectors(execute):
    lines = execute(program("svc #1", "msr spsel, #0")).uart.split()
    assert [int(lines[0], 16), int(lines[4], 16)] == [0x000, 0x3C4]


def test_an_exception_from_el0_uses_the_lower_level_vectors_and_the_handlers_stack(execute):
    to_el0 = """
      mov x1, #0x3c0
      msr spsr_el1, x1
      adr x1, trap
      msr elr_el1, x1
      mov x1, #0x1230
      msr sp_el0, x1
      eret
    """
    lines = execute(program("svc #1", to_el0)).uart.split()
    assert [int(lines[0], 16), int(lines[1], 16), int(lines[4], 16)] == [0x400, 0x15 << 26 | IL | 1, 0x3C0]


def test_an_exception_at_el2_is_taken_to_el2(execute):
    numbers = execute(
        """
          adr x1, table
          msr vbar_el2, x1
          isb
          hvc #5
          finish
        .align 11
        table:
        .space 0x200
          mrs x1, esr_el2
          put_hex x1
          mrs x1, currentel
          put_hex x1
          eret
        """,
        entry_el=2,
    ).numbers
    assert numbers[:2] == [0x16 << 26 | IL | 5, 0x8]


@pytest.mark.parametrize(("entry_el", "steps"), [(1, [0x4]), (2, [0x8, 0x4]), (3, [0xC, 0x8, 0x4])])
def test_every_entry_level_drops_to_el1(execute, entry_el, steps):
    numbers = execute(
        """
        mrs x5, currentel
        put_hex x5
        cmp x5, #4
        b.eq at_el1
        cmp x5, #8
        b.eq at_el2
        mov x1, #0x501
        msr scr_el3, x1
        mov x1, #0x3c9
        msr spsr_el3, x1
        adr x1, arrived_el2
        msr elr_el3, x1
        eret
        arrived_el2:
        mrs x5, currentel
        put_hex x5
        at_el2:
        mov x1, #(1 << 31)
        msr hcr_el2, x1
        mov x1, #0x3c5
        msr spsr_el2, x1
        adr x1, arrived_el1
        msr elr_el2, x1
        eret
        arrived_el1:
        mrs x5, currentel
        put_hex x5
        at_el1:
        finish
        """,
        entry_el=entry_el,
    ).numbers
    assert numbers == steps


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("svc #1", "svc exception at 0x88200004, and VBAR_EL1 is not set"),
        ("hvc #1", "hvc exception at 0x88200004, and VBAR_EL2 is not set"),
        ("smc #1", "smc exception at 0x88200004, and VBAR_EL3 is not set"),
        ("wfi", "WFI before 0x88200004, and no interrupt can come"),
        (
            "adr x1, 1f; msr vbar_el1, x1; isb; .word 0; .align 11; 1: .rept 512; .word 0; .endr",
            "its handler",
        ),
    ],
)
def test_an_end_the_guest_brings_on_itself_has_a_name(simulator, code, reason):
    run = simulator.run(code)
    assert run.exit_code == 2
    assert reason in run.stderr
