#include "platform/mmu.h"

#include "platform.h"
#include "platform/cache.h"
#include "platform/system.h"

/* A 39-bit address space in 4 KiB granules: three levels, whose entries cover 1 GiB, 2 MiB and 4 KiB. */
#define ENTRIES 512
#define PAGE_BITS 12
#define INDEX_BITS 9
#define FIRST_LEVEL_BITS 30
#define LAST_LEVEL 3
#define LAST_TABLE_BYTES ((size_t)ENTRIES * MMU_PAGE_BYTES)

/*
 * The pool is mapped page by page, and may begin and end within a table's range; the rest has its ragged
 * edges.
 */
#define MAX_TABLES (24 + DMA_POOL_SIZE / LAST_TABLE_BYTES + 2)
#define DMA_POOL_END (DMA_POOL_BASE + DMA_POOL_SIZE)

_Static_assert(DMA_POOL_BASE % MMU_PAGE_BYTES == 0 && DMA_POOL_SIZE % MMU_PAGE_BYTES == 0,
               "the DMA pool is a number of whole pages");

#define ENTRY_VALID ((uint64_t)1)
#define ENTRY_TABLE_OR_PAGE ((uint64_t)2) /* a table, or a page at level 3; clear for a block */
#define ENTRY_ACCESSED ((uint64_t)1 << 10)
#define ENTRY_READ_ONLY ((uint64_t)2 << 6)
#define ENTRY_INNER_SHAREABLE ((uint64_t)3 << 8)
#define ENTRY_NO_EXECUTE ((uint64_t)3 << 53) /* at EL0 and at EL1 */
#define ENTRY_ADDRESS ((uint64_t)0x0000fffffffff000)

/* Indices into MAIR_EL1, at the place where an entry has them. */
#define MEMORY_DEVICE ((uint64_t)0 << 2)
#define MEMORY_WRITE_BACK ((uint64_t)1 << 2)
#define MEMORY_NON_CACHEABLE ((uint64_t)2 << 2)
#define MAIR_VALUE ((uint64_t)0x44ff04) /* non-cacheable, write-back read/write-allocate, Device-nGnRE */

#define DATA (MEMORY_WRITE_BACK | ENTRY_INNER_SHAREABLE | ENTRY_NO_EXECUTE)
#define CONSTANTS (DATA | ENTRY_READ_ONLY)
#define CODE (MEMORY_WRITE_BACK | ENTRY_INNER_SHAREABLE | ENTRY_READ_ONLY)
#define DEVICE (MEMORY_DEVICE | ENTRY_NO_EXECUTE)
#define SHARED (MEMORY_NON_CACHEABLE | ENTRY_INNER_SHAREABLE | ENTRY_NO_EXECUTE)

/* 39-bit addresses, walks through write-back inner-shareable memory, 40-bit physical addresses. */
#define TCR_T0SZ ((uint64_t)(64 - 39))
#define TCR_WALKS ((uint64_t)0x3500)
#define TCR_NO_UPPER_HALF ((uint64_t)1 << 23)
#define TCR_UPPER_GRANULE_4K ((uint64_t)2 << 30) /* 0 is reserved, even where the upper half is off */
#define TCR_PHYSICAL_40_BITS ((uint64_t)2 << 32)

/* MMU, alignment checks, data cache, stack alignment checks, instruction cache. */
#define SCTLR_ON ((uint64_t)0x100f)

extern uint8_t image_start[], code_end[], constants_end[], image_end[];

static uint64_t tables[MAX_TABLES][ENTRIES] __attribute__((aligned(4096)));
static size_t tables_used = 1; /* the first is level 1's */

static uint64_t *table_below(uint64_t *entry)
{
    if (!(*entry & ENTRY_VALID)) {
        if (tables_used == MAX_TABLES) {
            __builtin_trap(); /* the board's map has more ragged edges than MAX_TABLES allows for */
        }
        *entry = (uintptr_t)tables[tables_used++] | ENTRY_TABLE_OR_PAGE | ENTRY_VALID;
    }
    return (uint64_t *)(uintptr_t)(*entry & ENTRY_ADDRESS);
}

/* Map one block or page at `address`, as large as alignment and `size` allow; return its bytes. */
static uintptr_t map_one(uintptr_t address, uintptr_t size, uint64_t attributes)
{
    uint64_t *table = tables[0];
    unsigned level = 1;
    uintptr_t bytes = (uintptr_t)1 << FIRST_LEVEL_BITS;

    for (;;) {
        uint64_t *entry = &table[(address / bytes) % ENTRIES];
        if (level == LAST_LEVEL || (address % bytes == 0 && size >= bytes)) {
            *entry = address | attributes | ENTRY_ACCESSED | ENTRY_VALID
                     | (level == LAST_LEVEL ? ENTRY_TABLE_OR_PAGE : 0);
            return bytes;
        }
        table = table_below(entry);
        bytes /= ENTRIES;
        level++;
    }
}

/* Map [start, end), widened to whole pages, onto itself. */
static void map(uintptr_t start, uintptr_t end, uint64_t attributes)
{
    uintptr_t at = start & ~(uintptr_t)(MMU_PAGE_BYTES - 1);

    while (at < end) {
        at += map_one(at, end - at, attributes);
    }
}

/* Map RAM that is always there, as data: all of [start, end) but the DMA pool. */
static void map_around_pool(uintptr_t start, uintptr_t end)
{
    if (start < DMA_POOL_BASE) {
        map(start, end < DMA_POOL_BASE ? end : DMA_POOL_BASE, DATA);
    }
    if (end > DMA_POOL_END) {
        map(start > DMA_POOL_END ? start : DMA_POOL_END, end, DATA);
    }
}

/* The table of level 3 whose entries are the pages around `address`. */
static uint64_t *last_table(uintptr_t address)
{
    uint64_t *table = tables[0];

    for (unsigned bits = FIRST_LEVEL_BITS; bits > PAGE_BITS; bits -= INDEX_BITS) {
        table = table_below(&table[(address >> bits) % ENTRIES]);
    }
    return table;
}

/* Map [start, end), a number of whole pages, page by page, so that none is part of a block. */
static void map_pages(uintptr_t start, uintptr_t end, uint64_t attributes)
{
    uintptr_t at = start;

    while (at < end) {
        uint64_t *table = last_table(at);

        for (size_t i = (at >> PAGE_BITS) % ENTRIES; i < ENTRIES && at < end; i++) {
            table[i] = at | attributes | ENTRY_ACCESSED | ENTRY_TABLE_OR_PAGE | ENTRY_VALID;
            at += MMU_PAGE_BYTES;
        }
    }
}

static uint64_t *page_entry(uintptr_t address)
{
    return &last_table(address)[(address >> PAGE_BITS) % ENTRIES];
}

size_t mmu_map(uintptr_t address, size_t size)
{
    for (uintptr_t at = address; at < address + size; at += MMU_PAGE_BYTES) {
        *page_entry(at) = at | DATA | ENTRY_ACCESSED | ENTRY_TABLE_OR_PAGE | ENTRY_VALID;
    }
    barrier_all(); /* the table walker sees the entries */
    barrier_instructions();
    return size / MMU_PAGE_BYTES;
}

size_t mmu_unmap(uintptr_t address, size_t size)
{
    for (uintptr_t at = address; at < address + size; at += MMU_PAGE_BYTES) {
        *page_entry(at) = 0;
    }
    barrier_all(); /* no walk finds the old entries any more: what is dropped from the TLB stays dropped */
    for (uintptr_t at = address; at < address + size; at += MMU_PAGE_BYTES) {
        __asm__ volatile("tlbi vaale1is, %0" ::"r"(at >> PAGE_BITS) : "memory");
    }
    barrier_all();
    barrier_instructions();
    return size / MMU_PAGE_BYTES;
}

void mmu_enable(void)
{
    map(UART_BASE, UART_BASE + UART_SIZE, DEVICE);
    map(NPU_BASE, NPU_BASE + NPU_SIZE, DEVICE);
    map(NPU_SRAM_BASE, NPU_SRAM_BASE + NPU_SRAM_SIZE, SHARED);
    map_pages(DMA_POOL_BASE, DMA_POOL_END, DATA);
    map_around_pool(RAM_BASE, (uintptr_t)image_start);
    map((uintptr_t)image_start, (uintptr_t)code_end, CODE);
    map((uintptr_t)code_end, (uintptr_t)constants_end, CONSTANTS);
    map_around_pool((uintptr_t)constants_end, RAM_BASE + RAM_SIZE);

    /*
     * What was written so far went past the caches. Lines that an earlier stage left behind hold older bytes
     * and are clean (the start-up code saw to that), so that this drops them and writes nothing over ours.
     */
    barrier_all();
    cache_clean_invalidate(constants_end, (size_t)(image_end - constants_end));

    system_write(mair_el1, MAIR_VALUE);
    system_write(tcr_el1,
                 TCR_T0SZ | TCR_WALKS | TCR_NO_UPPER_HALF | TCR_UPPER_GRANULE_4K | TCR_PHYSICAL_40_BITS);
    system_write(ttbr0_el1, (uintptr_t)tables[0]);
    barrier_instructions();
    __asm__ volatile("tlbi vmalle1\n ic iallu" ::: "memory");
    barrier_all();
    barrier_instructions();
    system_write(sctlr_el1, system_read(sctlr_el1) | SCTLR_ON);
    barrier_instructions();
}
