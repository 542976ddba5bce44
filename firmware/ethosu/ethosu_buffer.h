/*
 * Buffers: memory for tensors, created in batches, read and written as files are, with a position.
 *
 * A batch is one range of memory, its own or a part of somebody's, in which each buffer starts at a multiple
 * of 16 bytes. A read or write moves the buffer's position; what is to be read or written again from its
 * start must be rewound first.
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
    struct ethosu_memory own;     /* not created where the memory is somebody's */
    struct ethosu_memory *memory; /* where it lies */
    struct ethosu_buffer buffers[ETHOSU_MAX_BATCH];
    size_t start; /* bytes from the start of the memory */
    size_t count;
    size_t size; /* bytes of all buffers, each rounded up */
    struct ethosu_entry *entry;
};

/*
 * Create `count` buffers, at most ETHOSU_MAX_BATCH, of `sizes[i]` bytes, in memory of their own, all zero.
 * ETHOSU_ZERO_SIZE when there are none or one has no bytes; ETHOSU_OUT_OF_MEMORY. Then nothing was created.
 */
enum ethosu_error ethosu_batch_create(struct ethosu_device *device, const size_t *sizes, size_t count,
                                      enum ethosu_mapping mapping, struct ethosu_batch *batch);

/*
 * The same in `memory`, which outlives them, from `start` on, a multiple of 16, with what it holds.
 * ETHOSU_NO_SPACE: it is too small.
 */
enum ethosu_error ethosu_batch_create_in(struct ethosu_memory *memory, size_t start, const size_t *sizes,
                                         size_t count, struct ethosu_batch *batch);

/* Bytes of a batch with these buffers. */
size_t ethosu_batch_bytes(const size_t *sizes, size_t count);

/*
 * Zero the whole batch, where the device is to, and free it if the memory is its own. Does nothing when it
 * was not created.
 */
void ethosu_batch_destroy(struct ethosu_batch *batch);

/* Address of the batch for the NPU; 0 when it was not created. */
uintptr_t ethosu_batch_address(const struct ethosu_batch *batch);

/* Set all bytes of the batch to `value`, for the NPU to find. */
void ethosu_batch_fill(struct ethosu_batch *batch, uint8_t value);

/* Write at the position. ETHOSU_NO_SPACE, and nothing written, when `size` bytes do not fit behind it. */
enum ethosu_error ethosu_buffer_write(struct ethosu_batch *batch, size_t index, const void *from,
                                      size_t size);

/* Read at most `size` bytes from the position; returns how many there were, 0 at the end. */
size_t ethosu_buffer_read(struct ethosu_batch *batch, size_t index, void *to, size_t size);

/* Set the position of the next read or write, at most to the end. */
void ethosu_buffer_seek(struct ethosu_batch *batch, size_t index, size_t position);

/* Set the position of every buffer in the batch to its start. */
void ethosu_batch_rewind(struct ethosu_batch *batch);

#endif
