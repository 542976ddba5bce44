/*
 * The DMA pool: one range of memory, first fit, with its bookkeeping outside the range.
 *
 * Nothing here touches the memory itself. The cost of a call depends on the live blocks alone, so a pool that
 * is empty again behaves exactly as a new one.
 */
#ifndef MEMORY_POOL_H
#define MEMORY_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "capacity.h"

#define POOL_ROUNDING ((size_t)16) /* every size is rounded up to a multiple of this many bytes */

enum pool_error {
    POOL_OK,
    POOL_ZERO_SIZE,       /* a block of no bytes was asked for */
    POOL_NO_SPACE,        /* no gap is large enough */
    POOL_TOO_MANY_BLOCKS, /* POOL_MAX_BLOCKS are live */
};

struct pool_block {
    uintptr_t address;
    size_t size; /* bytes, rounded up */
};

struct pool {
    uintptr_t base;
    size_t size;                               /* bytes */
    struct pool_block blocks[POOL_MAX_BLOCKS]; /* live blocks by rising address */
    size_t block_count;
    size_t used; /* bytes in live blocks */
    size_t peak; /* the most bytes that were in use since pool_reset_peak() */
};

/* Make an empty pool of [base, base + size). */
void pool_initialise(struct pool *pool, uintptr_t base, size_t size);

/* `size` rounded up as the pool does it. */
size_t pool_rounded(size_t size);

/*
 * Take a block of at least `size` bytes at the lowest address that is a multiple of `alignment`, a power of
 * two. On success `*block` says where it is and how large; otherwise nothing has changed.
 */
enum pool_error pool_take(struct pool *pool, size_t size, size_t alignment, struct pool_block *block);

/*
 * Give back a block that pool_take() gave out. Anything else, such as a block that was given back already, is
 * a trap.
 */
void pool_give_back(struct pool *pool, const struct pool_block *block);

/* Start to watch the peak anew, from what is in use now. */
void pool_reset_peak(struct pool *pool);

#endif
