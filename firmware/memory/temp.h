/*
 * The temporary allocator: scratch memory that is never freed one by one, but all at once by a reset.
 *
 * It follows ExecuTorch's two (extension/memory_allocator: MallocMemoryAllocator, and CPUCachingAllocator of
 * pull request #15611). Both take a block of size + alignment - 1 bytes, its key, and return the first
 * address in it that is a multiple of the alignment. In what they differ:
 *
 *   TEMP_MALLOC    Each allocation is one of the heap; a reset frees all. Up to TEMP_HEAP_ALIGNMENT an
 *                  alignment adds nothing to the key, since the heap's blocks have it anyway.
 *   TEMP_CACHING   Alignments are at least TEMP_CACHE_ALIGNMENT. A block of exactly the key that an earlier
 *                  reset has kept is reused, the last kept first; only otherwise is there an allocation of
 *                  the heap. A reset keeps all live blocks, unless live and kept blocks together exceed
 *                  max_size: then it frees all of both. Nothing else looks at max_size, not even an
 *                  allocation that the heap has no room for while kept blocks lie idle.
 *
 * Memory is never cleared: a reused block holds what it held. A size of 0 gets an address of its own, as any
 * other, with no bytes to use. A reset takes the live blocks from the last allocated to the first, so that
 * allocations that repeat in the same order get the same blocks.
 *
 * Calls may come from several threads (see temp_lock.h), but a reset takes the memory from all of them.
 */
#ifndef MEMORY_TEMP_H
#define MEMORY_TEMP_H

#include <stddef.h>
#include <stdint.h>

#include "memory/heap.h"

#define TEMP_HEAP_ALIGNMENT ((size_t)16)  /* what malloc() of a 64-bit C library guarantees */
#define TEMP_CACHE_ALIGNMENT ((size_t)64) /* a cache line */

enum temp_kind {
    TEMP_MALLOC,
    TEMP_CACHING,
};

struct temp_block;

/* What has happened since the owner last cleared them, which it may do at any time. */
struct temp_counts {
    uint64_t allocations;      /* that succeeded: from the heap or reused */
    uint64_t heap_allocations; /* of them, taken from the heap */
    uint64_t reused;           /* of them, kept blocks used again */
    uint64_t heap_frees;       /* blocks given back to the heap */
};

struct temp {
    enum temp_kind kind;
    struct heap *heap;
    size_t max_size;           /* bytes */
    struct temp_block *live;   /* the last allocated first */
    struct temp_block *cached; /* the last kept first */
    size_t live_bytes;         /* sums of keys */
    size_t cached_bytes;
    size_t peak; /* the most bytes that were live or cached */
    struct temp_counts counts;
};

/* Make an allocator that holds nothing yet; TEMP_MALLOC ignores `max_size`. The heap must outlive it. */
void temp_initialise(struct temp *temp, enum temp_kind kind, struct heap *heap, size_t max_size);

/*
 * `size` bytes at a multiple of `alignment`, good until the next reset. NULL when `alignment` is not a power
 * of two, when size + alignment overflows, or when the heap has no room; then nothing has changed.
 */
void *temp_allocate(struct temp *temp, size_t size, size_t alignment);

/* End the life of all memory that was allocated. */
void temp_reset(struct temp *temp);

/* Give everything back to the heap. The allocator then holds nothing, as after temp_initialise(). */
void temp_destroy(struct temp *temp);

#endif
