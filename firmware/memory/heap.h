/*
 * A heap: malloc and free over one block of memory, first fit, always the same for the same calls.
 *
 * The memory is divided into units of a cache line. Before each block stands a unit with its bookkeeping,
 * and each block is a whole number of units, so that no line that a device writes is one that the heap
 * itself writes. Freed neighbours are joined at once: a heap whose blocks have all been freed is exactly as
 * it was at first, but for its peak. A call costs in proportion to the number of free blocks. Not safe for
 * several threads by itself.
 */
#ifndef MEMORY_HEAP_H
#define MEMORY_HEAP_H

#include <stddef.h>

#define HEAP_UNIT ((size_t)64) /* bytes; what every block starts at a multiple of */

struct heap_block;

struct heap {
    struct heap_block *first_free; /* free blocks by rising address, no two of them adjacent */
    size_t block_count;            /* live blocks */
    size_t used;                   /* bytes in live blocks, with bookkeeping and rounding */
    size_t peak;                   /* the most bytes that were in use */
};

/* Make an empty heap of the whole units in `size` bytes at `memory`; the heap owns them from now on. */
void heap_initialise(struct heap *heap, void *memory, size_t size);

/*
 * A block of at least `size` bytes, with whatever they held before, or NULL when no gap is large enough. A
 * block of no bytes has an address of its own too, which takes one unit.
 */
void *heap_allocate(struct heap *heap, size_t size);

/* Free a live block of this heap. Anything else, such as a block that is free already, is a trap. */
void heap_free(struct heap *heap, void *address);

#endif
