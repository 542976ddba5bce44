"""Entry as from a boot loader: at EL2 with MMU and caches on, which the program has to clean and leave."""

from __future__ import annotations

import pytest

from harness.sim.memory import PhysicalMemory, Window, make_ram
from harness.sim.residue import Geometry, Residue, data_cache_levels

ENTRY = "-C", "host.cpu.entry_caches=1"
DATA, COPY = 0xA000_0000, 0xA010_0000
# `sweep` cleans all sets and ways of one cache; geometry as CCSIDR_EL1 tells it.
SWEEP = """
  .macro sweep level, first_set
    mov x5, #(\\level << 1)
    msr csselr_el1, x5
    isb
    mrs x6, ccsidr_el1
    ubfx x8, x6, #3, #10
    ubfx x9, x6, #13, #15
    clz w10, w8
    3: mov x11, x9
    4: lsl x12, x8, x10
    orr x12, x12, x5
    orr x12, x12, x11, lsl #6
    dc cisw, x12
    sub x11, x11, #1
    cmp x11, #\\first_set
    b.ge 4b
    subs x8, x8, #1
    b.ge 3b
    dsb sy
  .endm
"""
# The NPU sees only what has left the caches.
OFF = "mrs x1, sctlr_el2; bic x1, x1, #4; bic x1, x1, #1; msr sctlr_el2, x1; isb;"
SHOW = f"{OFF} npu_copy {DATA}, {COPY}, 64; load x1, {COPY}; dc ivac, x1; ldr x5, [x1]; put_hex x5; finish"


@pytest.fixture
def seen_by_the_npu(execute, tmp_path):
    """What the NPU reads of data that the loader left in the caches, after `maintenance`."""
    data = tmp_path / "data"
    data.write_bytes(b"\x11" * 64)
    loading = "--data", f"{data}@{DATA:#x}"
    return lambda maintenance: execute(SWEEP + maintenance + SHOW, *ENTRY, *loading, entry_el=2).numbers[0]


def test_the_program_starts_at_el2_with_mmu_and_caches_on(execute):
    program = """
      mrs x1, currentel; put_hex x1
      mrs x1, sctlr_el2; load x2, 0x1005; and x1, x1, x2; put_hex x1
      finish
    """
    assert execute(program, *ENTRY, entry_el=2).numbers == [2 << 2, 0x1005]


def test_devices_and_memory_are_mapped_one_to_one(execute):
    program = "load x1, 0x90000000; mov x2, #7; str x2, [x1]; ldr x5, [x1]; put_hex x5; finish"
    assert execute(program, *ENTRY, entry_el=2).numbers == [7]


def test_what_was_loaded_is_in_memory_after_a_sweep_over_both_caches(seen_by_the_npu):
    assert seen_by_the_npu("sweep 0, 0; sweep 1, 0;") == 0x1111_1111_1111_1111


@pytest.mark.parametrize("maintenance", ["", "sweep 0, 0;", "sweep 1, 0;", "sweep 0, 1; sweep 1, 1;"])
def test_a_sweep_that_leaves_something_out_leaves_it_in_the_caches(seen_by_the_npu, maintenance):
    assert seen_by_the_npu(maintenance) == 0


def test_without_a_boot_loader_a_sweep_of_caches_that_are_on_is_refused(simulator):
    program = SWEEP + "mrs x1, sctlr_el2; orr x1, x1, #4; msr sctlr_el2, x1; isb; sweep 0, 0; finish"
    run = simulator.run(program, entry_el=2)
    assert run.exit_code == 2
    assert "by set and way while the cache is on is not modelled" in run.stderr


def test_only_a_clean_of_its_own_place_moves_a_line():
    memory = PhysicalMemory((make_ram(Window("RAM", 0, 1 << 20), fill=0, cached=True),))
    cache = Geometry(line=64, sets=4, ways=2)
    residue = Residue(memory, (cache,))
    address = 64 * (4 + 3)  # set 3, way 1
    memory.cache(address, b"x", "test")
    residue.hold(address, 1)
    others = [way << 31 | index << 6 for way in (0, 1) for index in range(4) if (way, index) != (1, 3)]
    for operand in others:
        residue.clean(operand)
    assert memory.view(address, 1) == 0
    residue.clean(1 << 31 | 3 << 6)
    assert memory.view(address, 1) == ord("x")


def test_the_registers_of_a_cortex_a72_are_understood():
    assert Geometry.from_register(0x701F_E00A) == Geometry(line=64, sets=256, ways=2)
    assert Geometry.from_register(0x707F_E07A) == Geometry(line=64, sets=1024, ways=16)
    assert data_cache_levels(0x0A20_0023) == 2
