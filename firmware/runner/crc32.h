/* CRC-32 (IEEE 802.3), as zlib computes it. */
#ifndef RUNNER_CRC32_H
#define RUNNER_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `size` bytes that follow those with the checksum `before`; 0 when none do. */
uint32_t crc32(uint32_t before, const void *bytes, size_t size);

#endif
