"""Counters: instructions to the last one, a virtual clock, and nothing while they are not enabled."""

from __future__ import annotations

import pytest

ENABLE = """
  mov x1, #8
  msr pmevtyper0_el0, x1
  load x1, 0x80000001
  msr pmcntenset_el0, x1
  mov x1, #1
  msr pmcr_el0, x1
  isb
"""


@pytest.mark.parametrize("rounds", [1, 2, 1000, 12_345])
def test_instructions_are_counted_exactly(execute, rounds):
    numbers = execute(f"""
      {ENABLE}
      mrs x5, pmevcntr0_el0
      load x1, {rounds}       // 1
      1: subs x1, x1, #1      // 2 in each round
      b.ne 1b
      mrs x6, pmevcntr0_el0   // 1, the first MRS itself
      sub x6, x6, x5
      put_hex x6
      finish
    """).numbers
    assert numbers == [2 * rounds + 2]


def test_an_isb_between_is_one_instruction_more(execute):
    numbers = execute(f"""
      {ENABLE}
      isb
      mrs x5, pmevcntr0_el0
      isb
      mrs x6, pmevcntr0_el0
      sub x6, x6, x5
      put_hex x6
      finish
    """).numbers
    assert numbers == [2]


def test_a_faulting_instruction_does_not_retire(execute):
    numbers = execute(f"""
      {ENABLE}
      adr x1, skip_trapped
      msr vbar_el1, x1
      isb
      mov x1, #0x5000
      mrs x5, pmevcntr0_el0   // 1
      ldr x2, [x1]            // 0
      mrs x6, pmevcntr0_el0
      sub x6, x6, x5
      put_hex x6
      finish
      .align 11
      skip_trapped: .space 0x200
      mrs x3, elr_el1         // 4
      add x3, x3, #4
      msr elr_el1, x3
      eret
    """).numbers
    assert numbers == [5]


@pytest.mark.parametrize("forgotten", ["msr pmcntenset_el0, x1", "msr pmcr_el0, x1"])
def test_a_counter_that_is_not_enabled_stays_at_zero(execute, forgotten):
    setup = ENABLE.replace(forgotten, "nop")
    assert setup != ENABLE
    numbers = execute(f"{setup} nop; mrs x5, pmevcntr0_el0; put_hex x5; finish").numbers
    assert numbers == [0]


def test_a_stopped_counter_keeps_its_value_and_a_reset_clears_it(execute):
    numbers = execute(f"""
      {ENABLE}
      nop
      mov x1, #1
      msr pmcntenclr_el0, x1
      mrs x5, pmevcntr0_el0
      nop
      mrs x6, pmevcntr0_el0
      mov x1, #3
      msr pmcr_el0, x1
      mrs x7, pmevcntr0_el0
      put_hex x5
      put_hex x6
      put_hex x7
      finish
    """).numbers
    assert numbers[0] == numbers[1] > 0
    assert numbers[2] == 0


def test_an_event_counter_wraps_at_32_bits_and_says_so(execute):
    numbers = execute(f"""
      {ENABLE}
      load x1, 0xffffffff
      msr pmevcntr0_el0, x1
      nop
      nop
      mrs x5, pmevcntr0_el0
      mrs x6, pmovsclr_el0
      put_hex x5
      put_hex x6
      finish
    """).numbers
    assert numbers == [2, 1]


def test_an_event_that_is_not_modelled_is_a_named_end(simulator):
    run = simulator.run(ENABLE.replace("mov x1, #8", "mov x1, #0x13"))
    assert run.exit_code == 2
    assert "PMU event 0x13 of counter 0 is not modelled" in run.stderr


def test_an_instruction_takes_a_nanosecond(execute):
    numbers = execute("""
      mrs x5, cntvct_el0
      load x1, 50000
      1: subs x1, x1, #1
      b.ne 1b
      mrs x6, cntvct_el0
      sub x6, x6, x5
      put_hex x6
      mrs x6, cntfrq_el0
      put_hex x6
      mrs x6, midr_el1
      put_hex x6
      finish
    """).numbers
    assert numbers == [10_000, 100_000_000, 0x410F_D8F0]


def test_two_runs_have_the_same_counters(execute):
    program = f"""
      {ENABLE}
      load x7, 300000
      1: subs x7, x7, #1
      b.ne 1b
      mrs x5, pmevcntr0_el0
      put_hex x5
      mrs x5, pmccntr_el0
      put_hex x5
      mrs x5, cntvct_el0
      put_hex x5
      finish
    """
    assert execute(program).numbers == execute(program).numbers


def test_enabling_a_timer_is_a_named_end(simulator):
    run = simulator.run("mov x1, #1; msr cntv_ctl_el0, x1")
    assert run.exit_code == 2
    assert "no interrupt controller" in run.stderr
