#include "ethosu/ethosu_memory.h"

#include "platform/bytes.h"
#include "platform/cache.h"

static void zero(struct ethosu_device *device, uintptr_t address, size_t size)
{
    memset((void *)address, 0, size);
    device->counts.zeroed += size;
    device->counts.cleaned += cache_clean((const void *)address, size);
}

enum ethosu_error ethosu_memory_create(struct ethosu_device *device, size_t size,
                                       struct ethosu_memory *memory)
{
    enum pool_error error = pool_take(&device->pool, size, cache_line_bytes(), &memory->block);

    if (error != POOL_OK) {
        memory->block.size = 0;
        return error == POOL_ZERO_SIZE ? ETHOSU_ZERO_SIZE : ETHOSU_OUT_OF_MEMORY;
    }
    uintptr_t end = memory->block.address + memory->block.size;
    if (end > device->pool_zeroed_end) {
        zero(device, device->pool_zeroed_end, end - device->pool_zeroed_end);
        device->pool_zeroed_end = end;
    }
    return ETHOSU_OK;
}

void ethosu_memory_write(struct ethosu_device *device, const struct ethosu_memory *memory, size_t offset,
                         const void *from, size_t size)
{
    uint8_t *to = (uint8_t *)memory->block.address + offset;

    memcpy(to, from, size);
    device->counts.copied += size;
    device->counts.cleaned += cache_clean(to, size);
}

void ethosu_memory_read(struct ethosu_device *device, const struct ethosu_memory *memory, size_t offset,
                        void *to, size_t size)
{
    uint8_t *from = (uint8_t *)memory->block.address + offset;

    device->counts.invalidated += cache_invalidate(from, size);
    memcpy(to, from, size);
    device->counts.copied += size;
}

void ethosu_memory_destroy(struct ethosu_device *device, struct ethosu_memory *memory)
{
    if (memory->block.size != 0) {
        zero(device, memory->block.address, memory->block.size);
        pool_give_back(&device->pool, &memory->block);
        memory->block.size = 0;
    }
}
