/*
 * memcpy and memset, as the C library has them; bytes.S says what they cost.
 *
 * The compiler calls both for its own purposes, so they keep their standard names.
 */
#ifndef PLATFORM_BYTES_H
#define PLATFORM_BYTES_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);

#endif
