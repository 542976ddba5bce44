"""The NPU on the bus: the two views of memory, waits that cost no time, faults and statistics."""

from __future__ import annotations

import re

import pytest

SOURCE, TARGET = 0xA000_0000, 0xA100_0000
VALUE = 0x1122_3344_5566_7788


def stream(length: int) -> str:
    """Return the words of a command stream that copies `length` bytes from SOURCE to TARGET."""
    words = [0x130, 0x131, 0x4030, SOURCE, 0x4031, TARGET, 0x4032, length, 0x10, 0x11, 0xFFFF_0000]
    return ", ".join(map(hex, words))


def job(words: str) -> str:
    """Return a program part that runs `words` on the NPU up to the label `wait`."""
    return f"""
      b 2f
      .balign 16
      1: .word {words}
      2:
      load x1, NPU
      adr x2, 1b
      str w2, [x1, #0x10]
      mov w2, #(2b - 1b)
      str w2, [x1, #0x20]
      mov w2, #1
      str w2, [x1, #8]
    """


WAIT = """
      wait: ldr w2, [x1, #4]
      tbnz w2, #0, wait
"""


def copy(clean: str, invalidate: str) -> str:
    return f"""
      load x3, {SOURCE}
      load x4, {TARGET}
      ldr x5, [x4]
      load x5, {VALUE}
      str x5, [x3]
      {clean}
      dsb sy
      {job(stream(64))}
      {WAIT}
      {invalidate}
      ldr x5, [x4]
      put_hex x5
      finish
    """


def test_maintenance_carries_bytes_to_the_npu_and_back(execute):
    assert execute(copy("dc cvac, x3", "dc ivac, x4")).numbers == [VALUE]


@pytest.mark.parametrize(
    ("clean", "invalidate"), [("", "dc ivac, x4"), ("dc cvac, x3", ""), ("dc cvau, x3", "dc ivac, x4")]
)
def test_a_missing_operation_gives_wrong_bytes(execute, clean, invalidate):
    program = copy(clean, invalidate)
    assert execute(program, "-C", "host.memory.fill=0xa5").numbers == [0xA5A5_A5A5_A5A5_A5A5]


def test_cleaning_after_the_npu_wrote_overwrites_what_it_wrote(execute):
    assert execute(copy("dc cvac, x3", "dc civac, x4"), "-C", "host.memory.fill=0xa5").numbers != [VALUE]


def test_without_the_model_there_is_one_view(execute):
    assert execute(copy("", ""), "-C", "host.cache_model=0").numbers == [VALUE]


def test_npu_sram_needs_no_maintenance(execute):
    program = copy("", "").replace(str(SOURCE), "0x02400000").replace(str(TARGET), "0x025fffc0")
    words = stream(64).replace(hex(SOURCE), "0x2400000").replace(hex(TARGET), "0x25fffc0")
    assert execute(program.replace(stream(64), words)).numbers == [VALUE]


def test_waiting_takes_virtual_time_but_hardly_an_instruction(execute):
    program = f"""
      mov x5, #8
      msr pmevtyper0_el0, x5
      mov x5, #1
      msr pmcntenset_el0, x5
      msr pmcr_el0, x5
      isb
      mrs x6, cntvct_el0
      mrs x7, pmevcntr0_el0
      {job(stream(8 << 20))}
      {WAIT}
      mrs x8, cntvct_el0
      mrs x9, pmevcntr0_el0
      sub x8, x8, x6
      sub x9, x9, x7
      put_hex x8
      put_hex x9
      finish
    """
    run = execute(program, "--stat")
    ticks, instructions = run.numbers
    jobs, cycles = map(int, re.search(r"ethosu *: (\d+) jobs \( *(\d+) Cycles", run.stdout).groups())
    assert jobs == 1
    assert cycles > 100_000
    assert cycles <= ticks * 10 <= cycles + 1_000
    assert instructions < 1_000


def test_a_deadline_is_met_to_a_sixteenth_although_the_npu_is_busy(execute):
    deadline = 5_000  # ticks, 50 microseconds
    program = f"""
      mrs x6, cntvct_el0
      {job(stream(8 << 20))}
      poll: ldr w2, [x1, #4]
      isb
      mrs x8, cntvct_el0
      sub x8, x8, x6
      tbz w2, #0, over
      cmp x8, #{deadline}
      b.lo poll
      over: put_hex x2
      put_hex x8
      finish
    """.replace(f"cmp x8, #{deadline}", f"mov x9, #{deadline}; cmp x8, x9")
    status, ticks = execute(program).numbers
    assert status & 1
    assert deadline <= ticks <= deadline * 17 // 16 + 110


def test_a_fault_is_told_unless_quiet(simulator):
    program = f"{job('0x3ff')} {WAIT} finish"
    assert "Ethos-U85: parse fault at stream offset 0x0" in simulator.run(program, quiet=False).stderr
    assert simulator.run(program).stderr == ""


def test_the_npu_has_the_macs_that_were_asked_for(execute):
    program = "load x1, NPU; ldr w5, [x1, #0x28]; and x5, x5, #15; put_hex x5; finish"
    assert execute(program, "-C", "host.ethosu.num_macs=1024").numbers == [10]


def test_maintenance_by_set_and_way_of_a_live_cache_is_a_named_end(simulator):
    program = "mrs x1, sctlr_el1; orr x1, x1, #4; msr sctlr_el1, x1; isb; dc cisw, xzr; finish"
    run = simulator.run(program)
    assert run.exit_code == 2
    assert "set and way" in run.stderr
