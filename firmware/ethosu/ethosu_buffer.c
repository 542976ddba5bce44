#include "ethosu/ethosu_buffer.h"

size_t ethosu_batch_bytes(const size_t *sizes, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        total += pool_rounded(sizes[i]);
    }
    return total;
}

/* Lay the buffers out, one behind the other, in a batch that is not created yet. */
static enum ethosu_error lay_out(const size_t *sizes, size_t count, struct ethosu_batch *batch)
{
    batch->device = NULL;
    batch->start = 0;
    batch->count = count;
    batch->size = 0;
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] == 0) {
            return ETHOSU_ZERO_SIZE;
        }
        batch->buffers[i] = (struct ethosu_buffer){.offset = batch->size, .size = sizes[i]};
        batch->size += pool_rounded(sizes[i]);
    }
    return batch->size == 0 ? ETHOSU_ZERO_SIZE : ETHOSU_OK;
}

static void enter(struct ethosu_device *device, struct ethosu_memory *memory, struct ethosu_batch *batch)
{
    batch->device = device;
    batch->memory = memory;
    batch->entry = ethosu_ledger_add(&device->ledger, "buffers", batch->size, device->origin);
    device->counts.buffers += (uint32_t)batch->count;
}

enum ethosu_error ethosu_batch_create(struct ethosu_device *device, const size_t *sizes, size_t count,
                                      enum ethosu_mapping mapping, struct ethosu_batch *batch)
{
    enum ethosu_error error = lay_out(sizes, count, batch);

    if (error == ETHOSU_OK && ethosu_device_must_fail(device)) {
        error = ETHOSU_INJECTED;
    }
    if (error == ETHOSU_OK) {
        error = ethosu_memory_create(device, batch->size, mapping, &batch->own);
    }
    if (error == ETHOSU_OK) {
        enter(device, &batch->own, batch);
    }
    return error;
}

enum ethosu_error ethosu_batch_create_in(struct ethosu_memory *memory, size_t start, const size_t *sizes,
                                         size_t count, struct ethosu_batch *batch)
{
    enum ethosu_error error = lay_out(sizes, count, batch);

    batch->own = (struct ethosu_memory){.device = NULL};
    if (error == ETHOSU_OK && ethosu_device_must_fail(memory->device)) {
        error = ETHOSU_INJECTED;
    }
    if (error == ETHOSU_OK && start + batch->size > memory->block.size) {
        error = ETHOSU_NO_SPACE;
    }
    if (error == ETHOSU_OK) {
        batch->start = start;
        enter(memory->device, memory, batch);
    }
    return error;
}

void ethosu_batch_destroy(struct ethosu_batch *batch)
{
    if (batch->device == NULL) {
        return;
    }
    if (batch->memory == &batch->own) {
        ethosu_memory_destroy(&batch->own);
    } else if (batch->device->zero_on_destroy) {
        ethosu_batch_fill(batch, 0);
    }
    ethosu_ledger_remove(&batch->device->ledger, batch->entry);
    batch->device = NULL;
}

uintptr_t ethosu_batch_address(const struct ethosu_batch *batch)
{
    return batch->device == NULL ? 0 : batch->memory->block.address + batch->start;
}

void ethosu_batch_fill(struct ethosu_batch *batch, uint8_t value)
{
    ethosu_memory_fill(batch->memory, batch->start, batch->size, value);
}

enum ethosu_error ethosu_buffer_write(struct ethosu_batch *batch, size_t index, const void *from, size_t size)
{
    struct ethosu_buffer *buffer = &batch->buffers[index];

    if (size > buffer->size - buffer->position) {
        return ETHOSU_NO_SPACE;
    }
    ethosu_memory_write(batch->memory, batch->start + buffer->offset + buffer->position, from, size);
    buffer->position += size;
    return ETHOSU_OK;
}

size_t ethosu_buffer_read(struct ethosu_batch *batch, size_t index, void *to, size_t size)
{
    struct ethosu_buffer *buffer = &batch->buffers[index];
    size_t left = buffer->size - buffer->position;
    size_t count = size < left ? size : left;

    ethosu_memory_read(batch->memory, batch->start + buffer->offset + buffer->position, to, count);
    buffer->position += count;
    return count;
}

void ethosu_buffer_seek(struct ethosu_batch *batch, size_t index, size_t position)
{
    struct ethosu_buffer *buffer = &batch->buffers[index];

    buffer->position = position < buffer->size ? position : buffer->size;
}

void ethosu_batch_rewind(struct ethosu_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        batch->buffers[i].position = 0;
    }
}
