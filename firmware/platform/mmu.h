/* The identity map of EL1: which addresses exist, how they are cached, and what may be done with them. */
#ifndef PLATFORM_MMU_H
#define PLATFORM_MMU_H

#include <stddef.h>
#include <stdint.h>

#define MMU_PAGE_BYTES ((size_t)4096)

/*
 * Build the page tables from the board's memory map and the image's sections, and switch on MMU and caches.
 *
 * RAM is normal write-back memory; the image's code is executable and read-only, its constants are read-only.
 * Device registers are Device-nGnRE; the NPU's SRAM is normal non-cacheable memory. Everything else is
 * unmapped, so that a stray access is an exception. Called once, by the start-up code, with MMU and caches
 * off.
 */
void mmu_enable(void);

/*
 * Pages of the DMA pool come and go: mmu_unmap() takes [address, address + size) from the CPU, so that
 * touching it is a translation fault, and mmu_map() gives it back as it was. Address and size are whole pages
 * within the pool. Both return the number of page table entries that they wrote, and return when every
 * observer sees them; mmu_unmap() makes one TLB operation for each.
 *
 * An entry that is replaced goes through invalid first, the break-before-make of Arm DDI 0487 D8.16: there is
 * no call that changes a valid entry to another valid one. Nothing is done to the caches: lines of a page
 * that is not mapped stay where they are.
 */
size_t mmu_map(uintptr_t address, size_t size);
size_t mmu_unmap(uintptr_t address, size_t size);

#endif
