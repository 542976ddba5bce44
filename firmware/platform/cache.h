/*
 * Data cache maintenance by address range, to the point of coherency.
 *
 * Caches work in lines: a range is widened to whole lines on both sides. Cleaning the neighbours' bytes is
 * harmless. Invalidating drops what the CPU wrote to them and has not cleaned, so whoever shares a line with
 * a range that is invalidated must clean after every write; DMA memory is allocated in whole lines for that
 * reason. Each function returns the bytes of the lines it worked on, which is what its cost is proportional
 * to, and returns when the operations are complete for every observer.
 */
#ifndef PLATFORM_CACHE_H
#define PLATFORM_CACHE_H

#include <stddef.h>

/* Bytes of the smallest data cache line, from CTR_EL0. */
size_t cache_line_bytes(void);

/* Write dirty lines of [address, address + size) to memory; the lines stay in the cache. */
size_t cache_clean(const void *address, size_t size);

/* Drop the lines of [address, address + size), dirty or not, so that the next read comes from memory. */
size_t cache_invalidate(void *address, size_t size);

/* Write dirty lines to memory, then drop them. */
size_t cache_clean_invalidate(void *address, size_t size);

#endif
