"""The core as U-Boot's `go` leaves it to a program: at EL2, with its own page tables, MMU and caches on.

The map is one to one: DRAM is cached memory, everything else a device. Registers have the values that U-Boot
2025.10 gives them (arch/arm/cpu/armv8/cache_v8.c, arch/arm/include/asm/armv8/mmu.h); its tables lie where it
reserves room for them, at the top of the DRAM.
"""

from __future__ import annotations

import struct

from harness.sim.core import Core
from harness.sim.memory import PhysicalMemory, Window
from harness.sim.registers import MAIR_EL2, SCTLR_EL2, TCR_EL2, TTBR0_EL2

TABLE_ROOM = 0x1_0000  # bytes, that the table is aligned to as well
ADDRESS_BITS = 36
BLOCK_BITS = 30  # a first-level block of the 4 KiB granule

MEMORY_TYPES = 0xFF_44_0C_04_00  # device nGnRnE, nGnRE, GRE; normal uncached, normal write-back
DEVICE, CACHED = 0, 4  # numbers of these types
# Block descriptor: valid, AttrIndx, inner shareable, access flag; a device is never executed.
CACHED_BLOCK = 0x1 | CACHED << 2 | 0x3 << 8 | 1 << 10
DEVICE_BLOCK = 0x1 | DEVICE << 2 | 1 << 10 | 1 << 54

# RES1, 36-bit physical addresses, 4 KiB granule, walks that are inner shareable and cached.
TRANSLATION = 1 << 31 | 1 << 23 | 1 << 16 | 3 << 12 | 1 << 10 | 1 << 8 | (64 - ADDRESS_BITS)
MMU_AND_CACHES_ON = 0x30C5_0830 | 1 << 12 | 1 << 2 | 1 << 0  # RES1 of SCTLR_EL2; I, C, M


def switch_on_translation(core: Core, memory: PhysicalMemory, dram: Window) -> None:
    """Write the page table and have EL2 use it. Raises MemoryMapError when the DRAM is too small for it."""
    table = dram.base + dram.size - TABLE_ROOM
    memory.load(table, _page_table(dram), "the boot loader's page table")
    core.write_system(MAIR_EL2, MEMORY_TYPES)
    core.write_system(TCR_EL2, TRANSLATION)
    core.write_system(TTBR0_EL2, table)
    core.write_system(SCTLR_EL2, MMU_AND_CACHES_ON)


def _page_table(dram: Window) -> bytes:
    starts = range(0, 1 << ADDRESS_BITS, 1 << BLOCK_BITS)
    blocks = (
        start
        | (
            CACHED_BLOCK
            if dram.base < start + (1 << BLOCK_BITS) and start < dram.base + dram.size
            else DEVICE_BLOCK
        )
        for start in starts
    )
    return struct.pack(f"<{len(starts)}Q", *blocks)
