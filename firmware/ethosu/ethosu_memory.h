/*
 * DMA memory: blocks of the pool that CPU and NPU both use, and that are zero when they are handed out.
 *
 * The NPU is not coherent with the CPU's caches. The rule that keeps this right: outside the functions below
 * no line of the pool is dirty. Whoever writes cleans at once; whoever reads what the NPU wrote invalidates
 * first. Blocks start at a cache line of their own.
 */
#ifndef ETHOSU_MEMORY_H
#define ETHOSU_MEMORY_H

#include "ethosu/ethosu_device.h"

struct ethosu_memory {
    struct pool_block block; /* address and size in bytes; nothing when the size is 0 */
};

/* Allocate `size` bytes, rounded up to 16. ETHOSU_ZERO_SIZE, ETHOSU_OUT_OF_MEMORY: nothing was allocated. */
enum ethosu_error ethosu_memory_create(struct ethosu_device *device, size_t size,
                                       struct ethosu_memory *memory);

/* Copy bytes to `offset`, which the caller has checked, and make the NPU see them. */
void ethosu_memory_write(struct ethosu_device *device, const struct ethosu_memory *memory, size_t offset,
                         const void *from, size_t size);

/* Copy from `offset` what memory holds, not what the cache holds. */
void ethosu_memory_read(struct ethosu_device *device, const struct ethosu_memory *memory, size_t offset,
                        void *to, size_t size);

/* Zero the block and give it back. Does nothing when there is none. */
void ethosu_memory_destroy(struct ethosu_device *device, struct ethosu_memory *memory);

#endif
