/*
 * Buffers: memory for tensors, created in batches, read and written as files are, with a position.
 *
 * A batch is one allocation, in which each buffer starts at a multiple of 16 bytes. A read or write moves the
 * buffer's position; what is to be read or written again from its start must be rewound first.
 */
#ifndef ETHOSU_BUFFER_H
#define ETHOSU_BUFFER_H

#include "ethosu/ethosu_memory.h"

#define ETHOSU_MAX_BATCH 16

struct ethosu_buffer {
    size_t offset;   /* bytes from the start of the batch */
    size_t size;     /* bytes, as asked for */
    size_t position; /* of the next read or write */
};

struct ethosu_batch {
    struct ethosu_device *device; /* NULL: not created */
    struct ethosu_memory memory;
    struct ethosu_buffer buffers[ETHOSU_MAX_BATCH];
    size_t count;
};

/*
 * Create `count` buffers, at most ETHOSU_MAX_BATCH, of `sizes[i]` bytes, all zero.
 * ETHOSU_ZERO_SIZE when there are none or one has no bytes; ETHOSU_OUT_OF_MEMORY. Then nothing was created.
 */
enum ethosu_error ethosu_batch_create(struct ethosu_device *device, const size_t *sizes, size_t count,
                                      struct ethosu_batch *batch);

/* Zero and free the whole batch. Does nothing when it was not created. */
void ethosu_batch_destroy(struct ethosu_batch *batch);

/* Address of the batch for the NPU; 0 when it was not created. */
uintptr_t ethosu_batch_address(const struct ethosu_batch *batch);

/* Write at the position. ETHOSU_NO_SPACE, and nothing written, when `size` bytes do not fit behind it. */
enum ethosu_error ethosu_buffer_write(struct ethosu_batch *batch, size_t index, const void *from,
                                      size_t size);

/* Read at most `size` bytes from the position; returns how many there were, 0 at the end. */
size_t ethosu_buffer_read(struct ethosu_batch *batch, size_t index, void *to, size_t size);

/* Set the position of every buffer in the batch to its start. */
void ethosu_batch_rewind(struct ethosu_batch *batch);

#endif
