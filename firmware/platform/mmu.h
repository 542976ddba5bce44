/* The identity map of EL1: which addresses exist, how they are cached, and what may be done with them. */
#ifndef PLATFORM_MMU_H
#define PLATFORM_MMU_H

/*
 * Build the page tables from the board's memory map and the image's sections, and switch on MMU and caches.
 *
 * RAM is normal write-back memory; the image's code is executable and read-only, its constants are read-only.
 * Device registers are Device-nGnRE; the NPU's SRAM is normal non-cacheable memory. Everything else is
 * unmapped, so that a stray access is an exception. Called once, by the start-up code, with MMU and caches
 * off.
 */
void mmu_enable(void);

#endif
