/*
 * DMA memory: blocks of the pool that CPU and NPU both use, and that are zero when they are first handed out.
 *
 * The NPU is not coherent with the CPU's caches. The rule that keeps this right: outside the functions below
 * no line of the pool is dirty. Whoever writes cleans at once; whoever reads what the NPU wrote invalidates
 * first. Blocks start at a cache line of their own.
 *
 * Memory is either always mapped for the CPU, as a driver's own is, or mapped on demand, as memory that a
 * process shares with a device: then it has pages of its own, which the CPU can touch only between
 * ethosu_memory_map() and ethosu_memory_unmap(). The NPU sees it at any time. Reading or writing it while it
 * is not mapped is an exception. Where the driver itself must touch it, it maps it for as long as that takes,
 * and counts that apart.
 */
#ifndef ETHOSU_MEMORY_H
#define ETHOSU_MEMORY_H

#include "ethosu/ethosu_device.h"

enum ethosu_mapping {
    ETHOSU_ALWAYS_MAPPED,
    ETHOSU_MAPPED_ON_DEMAND,
};

struct ethosu_memory {
    struct ethosu_device *device; /* NULL: not created */
    struct pool_block block;      /* address and size in bytes */
    enum ethosu_mapping kind;
    struct ethosu_entry *entry;
    struct ethosu_entry *mapped; /* the entry of its mapping; NULL while it is not mapped on demand */
};

/*
 * Allocate `size` bytes, rounded up to 16, or to whole pages where they are mapped on demand.
 * ETHOSU_ZERO_SIZE, ETHOSU_OUT_OF_MEMORY: nothing was allocated.
 */
enum ethosu_error ethosu_memory_create(struct ethosu_device *device, size_t size, enum ethosu_mapping kind,
                                       struct ethosu_memory *memory);

/* Bytes that ethosu_memory_create() takes from the pool. */
size_t ethosu_memory_rounded(size_t size, enum ethosu_mapping kind);

/*
 * Let the CPU touch memory of the on-demand kind. ETHOSU_ALREADY_MAPPED: it may be mapped only once at a
 * time.
 */
enum ethosu_error ethosu_memory_map(struct ethosu_memory *memory);

/* End that. ETHOSU_NOT_MAPPED: it was not mapped. */
enum ethosu_error ethosu_memory_unmap(struct ethosu_memory *memory);

/* Copy bytes to `offset`, which the caller has checked, and make the NPU see them. */
void ethosu_memory_write(struct ethosu_memory *memory, size_t offset, const void *from, size_t size);

/* Copy from `offset` what memory holds, not what the cache holds. */
void ethosu_memory_read(struct ethosu_memory *memory, size_t offset, void *to, size_t size);

/* Set `size` bytes from `offset` on, which the caller has checked, to `value`, and make the NPU see them. */
void ethosu_memory_fill(struct ethosu_memory *memory, size_t offset, size_t size, uint8_t value);

/*
 * Zero the block, where the device is to (see struct ethosu_platform), and give it back; memory that is still
 * mapped is unmapped without being counted. Does nothing when it was not created.
 */
void ethosu_memory_destroy(struct ethosu_memory *memory);

#endif
