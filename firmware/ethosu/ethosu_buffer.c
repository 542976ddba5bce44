#include "ethosu/ethosu_buffer.h"

enum ethosu_error ethosu_batch_create(struct ethosu_device *device, const size_t *sizes, size_t count,
                                      struct ethosu_batch *batch)
{
    size_t total = 0;

    batch->device = NULL;
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] == 0) {
            return ETHOSU_ZERO_SIZE;
        }
        batch->buffers[i] = (struct ethosu_buffer){.offset = total, .size = sizes[i]};
        total += pool_rounded(sizes[i]);
    }
    enum ethosu_error error = ethosu_memory_create(device, total, &batch->memory);
    if (error != ETHOSU_OK) {
        return error;
    }
    batch->device = device;
    batch->count = count;
    device->counts.buffers += (uint32_t)count;
    device->live_buffers += (uint32_t)count;
    return ETHOSU_OK;
}

void ethosu_batch_destroy(struct ethosu_batch *batch)
{
    if (batch->device != NULL) {
        ethosu_memory_destroy(batch->device, &batch->memory);
        batch->device->live_buffers -= (uint32_t)batch->count;
        batch->device = NULL;
    }
}

uintptr_t ethosu_batch_address(const struct ethosu_batch *batch)
{
    return batch->device == NULL ? 0 : batch->memory.block.address;
}

enum ethosu_error ethosu_buffer_write(struct ethosu_batch *batch, size_t index, const void *from, size_t size)
{
    struct ethosu_buffer *buffer = &batch->buffers[index];

    if (size > buffer->size - buffer->position) {
        return ETHOSU_NO_SPACE;
    }
    ethosu_memory_write(batch->device, &batch->memory, buffer->offset + buffer->position, from, size);
    buffer->position += size;
    return ETHOSU_OK;
}

size_t ethosu_buffer_read(struct ethosu_batch *batch, size_t index, void *to, size_t size)
{
    struct ethosu_buffer *buffer = &batch->buffers[index];
    size_t left = buffer->size - buffer->position;
    size_t count = size < left ? size : left;

    ethosu_memory_read(batch->device, &batch->memory, buffer->offset + buffer->position, to, count);
    buffer->position += count;
    return count;
}

void ethosu_batch_rewind(struct ethosu_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        batch->buffers[i].position = 0;
    }
}
