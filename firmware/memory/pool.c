#include "memory/pool.h"

static uintptr_t align_up(uintptr_t value, size_t alignment)
{
    return (value + alignment - 1) & ~(uintptr_t)(alignment - 1);
}

void pool_initialise(struct pool *pool, uintptr_t base, size_t size)
{
    pool->base = base;
    pool->size = size;
    pool->block_count = 0;
    pool->used = 0;
    pool->peak = 0;
}

size_t pool_rounded(size_t size)
{
    return (size_t)align_up(size, POOL_ROUNDING);
}

/* Find the lowest gap that holds `size` bytes: the index at which its block would stand, and its address. */
static enum pool_error find_gap(const struct pool *pool, size_t size, size_t alignment, size_t *index,
                                uintptr_t *address)
{
    uintptr_t at = align_up(pool->base, alignment);

    for (size_t i = 0;; i++) {
        uintptr_t gap_end = i < pool->block_count ? pool->blocks[i].address : pool->base + pool->size;
        if (at <= gap_end && gap_end - at >= size) {
            *index = i;
            *address = at;
            return POOL_OK;
        }
        if (i == pool->block_count) {
            return POOL_NO_SPACE;
        }
        at = align_up(pool->blocks[i].address + pool->blocks[i].size, alignment);
    }
}

enum pool_error pool_take(struct pool *pool, size_t size, size_t alignment, struct pool_block *block)
{
    size_t index;
    uintptr_t address;

    if (size == 0) {
        return POOL_ZERO_SIZE;
    }
    if (pool->block_count == POOL_MAX_BLOCKS) {
        return POOL_TOO_MANY_BLOCKS;
    }
    if (size > pool->size) {
        return POOL_NO_SPACE; /* before rounding, which could wrap */
    }
    size = pool_rounded(size);
    enum pool_error error = find_gap(pool, size, alignment, &index, &address);
    if (error != POOL_OK) {
        return error;
    }
    for (size_t i = pool->block_count; i > index; i--) {
        pool->blocks[i] = pool->blocks[i - 1];
    }
    pool->blocks[index] = (struct pool_block){.address = address, .size = size};
    pool->block_count++;
    pool->used += size;
    /* Without a branch: a new peak costs what none costs. */
    pool->peak = pool->used > pool->peak ? pool->used : pool->peak;
    *block = pool->blocks[index];
    return POOL_OK;
}

void pool_give_back(struct pool *pool, const struct pool_block *block)
{
    size_t i = 0;

    while (i < pool->block_count && pool->blocks[i].address != block->address) {
        i++;
    }
    if (i == pool->block_count) {
        __builtin_trap(); /* going on would spoil the bookkeeping, and show only much later */
    }
    pool->used -= pool->blocks[i].size;
    pool->block_count--;
    for (; i < pool->block_count; i++) {
        pool->blocks[i] = pool->blocks[i + 1];
    }
}

void pool_reset_peak(struct pool *pool)
{
    pool->peak = pool->used;
}
