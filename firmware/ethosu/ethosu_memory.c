#include "ethosu/ethosu_memory.h"

#include "platform/bytes.h"
#include "platform/cache.h"
#include "platform/mmu.h"

static void fill(struct ethosu_device *device, uintptr_t address, size_t size, uint8_t value)
{
    memset((void *)address, value, size);
    device->counts.zeroed += size;
    device->counts.cleaned += cache_clean((const void *)address, size);
}

/* Whether the CPU may not touch the memory now. */
static bool is_hidden(const struct ethosu_memory *memory)
{
    return memory->kind == ETHOSU_MAPPED_ON_DEMAND && memory->mapped == NULL;
}

/* Give the pages to the CPU, and take them from it. */
static void show(struct ethosu_memory *memory)
{
    memory->device->counts.pages += mmu_map(memory->block.address, memory->block.size);
}

static void hide(struct ethosu_memory *memory)
{
    size_t pages = mmu_unmap(memory->block.address, memory->block.size);

    memory->device->counts.pages += pages;
    memory->device->counts.tlb += pages;
}

static void show_to_driver(struct ethosu_memory *memory)
{
    memory->device->counts.driver_maps++;
    show(memory);
}

static void hide_from_driver(struct ethosu_memory *memory)
{
    memory->device->counts.driver_unmaps++;
    hide(memory);
}

size_t ethosu_memory_rounded(size_t size, enum ethosu_mapping kind)
{
    size_t unit = kind == ETHOSU_MAPPED_ON_DEMAND ? MMU_PAGE_BYTES : POOL_ROUNDING;

    return (size + unit - 1) & ~(unit - 1);
}

/* Memory that was never used holds anything; the pool's is used from its lowest address up. */
static void zero_unused(struct ethosu_device *device, const struct pool_block *block)
{
    uintptr_t end = block->address + block->size;

    if (end > device->pool_zeroed_end) {
        fill(device, device->pool_zeroed_end, end - device->pool_zeroed_end, 0);
        device->pool_zeroed_end = end;
    }
}

enum ethosu_error ethosu_memory_create(struct ethosu_device *device, size_t size, enum ethosu_mapping kind,
                                       struct ethosu_memory *memory)
{
    size_t alignment = kind == ETHOSU_MAPPED_ON_DEMAND ? MMU_PAGE_BYTES : cache_line_bytes();

    *memory = (struct ethosu_memory){.kind = kind};
    if (ethosu_device_must_fail(device)) {
        return ETHOSU_INJECTED;
    }
    if (size > device->pool.size) {
        return ETHOSU_OUT_OF_MEMORY; /* before rounding, which could wrap */
    }
    enum pool_error error =
        pool_take(&device->pool, ethosu_memory_rounded(size, kind), alignment, &memory->block);
    if (error != POOL_OK) {
        return error == POOL_ZERO_SIZE ? ETHOSU_ZERO_SIZE : ETHOSU_OUT_OF_MEMORY;
    }
    zero_unused(device, &memory->block);
    memory->device = device;
    memory->entry = ethosu_ledger_add(&device->ledger, "memory", memory->block.size, device->origin);
    device->counts.memories++;
    if (kind == ETHOSU_MAPPED_ON_DEMAND) {
        hide_from_driver(memory);
    }
    return ETHOSU_OK;
}

enum ethosu_error ethosu_memory_map(struct ethosu_memory *memory)
{
    struct ethosu_device *device = memory->device;

    if (!is_hidden(memory)) {
        return ETHOSU_ALREADY_MAPPED;
    }
    if (ethosu_device_must_fail(device)) {
        return ETHOSU_INJECTED;
    }
    show(memory);
    memory->mapped = ethosu_ledger_add(&device->ledger, "mapping", memory->block.size, device->origin);
    device->counts.maps++;
    return ETHOSU_OK;
}

static void forget_mapping(struct ethosu_memory *memory)
{
    ethosu_ledger_remove(&memory->device->ledger, memory->mapped);
    memory->mapped = NULL;
}

enum ethosu_error ethosu_memory_unmap(struct ethosu_memory *memory)
{
    if (memory->mapped == NULL) {
        return ETHOSU_NOT_MAPPED;
    }
    hide(memory);
    forget_mapping(memory);
    memory->device->counts.unmaps++;
    return ETHOSU_OK;
}

void ethosu_memory_write(struct ethosu_memory *memory, size_t offset, const void *from, size_t size)
{
    struct ethosu_device *device = memory->device;
    uint8_t *to = (uint8_t *)memory->block.address + offset;

    memcpy(to, from, size);
    device->counts.copied += size;
    device->counts.cleaned += cache_clean(to, size);
}

void ethosu_memory_read(struct ethosu_memory *memory, size_t offset, void *to, size_t size)
{
    struct ethosu_device *device = memory->device;
    uint8_t *from = (uint8_t *)memory->block.address + offset;

    device->counts.invalidated += cache_invalidate(from, size);
    memcpy(to, from, size);
    device->counts.copied += size;
}

void ethosu_memory_fill(struct ethosu_memory *memory, size_t offset, size_t size, uint8_t value)
{
    bool hidden = is_hidden(memory);

    if (hidden) {
        show_to_driver(memory);
    }
    fill(memory->device, memory->block.address + offset, size, value);
    if (hidden) {
        hide_from_driver(memory);
    }
}

void ethosu_memory_destroy(struct ethosu_memory *memory)
{
    struct ethosu_device *device = memory->device;

    if (device == NULL) {
        return;
    }
    if (is_hidden(memory)) {
        show_to_driver(memory); /* the pool's pages are mapped while nobody has them */
    } else if (memory->mapped != NULL) {
        forget_mapping(memory);
    }
    if (device->zero_on_destroy) {
        fill(device, memory->block.address, memory->block.size, 0);
    }
    pool_give_back(&device->pool, &memory->block);
    ethosu_ledger_remove(&device->ledger, memory->entry);
    memory->device = NULL;
}
