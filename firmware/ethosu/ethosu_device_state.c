/* What the driver keeps of its device: which NPU it is, its memory and books, and why a call failed. */

#include "ethosu/ethosu_device.h"
#include "ethosu/ethosu_registers.h"
#include "platform/bytes.h"
#include "platform/mmu.h"
#include "platform/system.h"

#define NPU_ALIGNMENT 16 /* bytes: of a command stream and of every base address */

enum ethosu_error ethosu_device_probe(struct ethosu_device *device, const struct ethosu_platform *platform)
{
    device->base = platform->registers;
    device->sram_base = platform->sram_base;
    device->sram_size = platform->sram_size;
    device->zero_on_destroy = platform->zero_on_destroy;
    device->calls_until_failure = 0;
    device->counts = (struct ethosu_counts){0};
    pool_initialise(&device->pool, platform->pool_base, platform->pool_size);
    device->pool_zeroed_end = platform->pool_base;
    ethosu_ledger_clear(&device->ledger);
    device->id = mmio_read(device->base + NPU_ID);
    device->config = mmio_read(device->base + NPU_CONFIG);
    if (CONFIG_PRODUCT(device->config) != CONFIG_PRODUCT_U85) {
        return ETHOSU_NO_NPU;
    }
    return ethosu_device_reset(device);
}

void ethosu_device_forget_objects(struct ethosu_device *device)
{
    (void)mmu_map(device->pool.base, device->pool.size);
    pool_initialise(&device->pool, device->pool.base, device->pool.size);
    device->pool_zeroed_end = device->pool.base;
    ethosu_ledger_clear(&device->ledger);
}

bool ethosu_device_must_fail(struct ethosu_device *device)
{
    if (device->calls_until_failure == 0) {
        return false;
    }
    return --device->calls_until_failure == 0;
}

bool ethosu_device_is_aligned(struct ethosu_device *device, const char *what, uintptr_t address)
{
    if (address % NPU_ALIGNMENT == 0) {
        return true;
    }
    device->misaligned = what;
    device->misaligned_address = address;
    return false;
}

bool ethosu_device_are_aligned(struct ethosu_device *device, uintptr_t stream,
                               const uintptr_t regions[ETHOSU_REGIONS])
{
    static const char *const names[ETHOSU_REGIONS] = {"weights", "scratch", "sram", "inputs", "outputs"};
    bool aligned = ethosu_device_is_aligned(device, "stream", stream);

    for (size_t region = 0; region < ETHOSU_REGIONS; region++) {
        aligned = aligned && ethosu_device_is_aligned(device, names[region], regions[region]);
    }
    return aligned;
}

void ethosu_device_clear_sram(struct ethosu_device *device)
{
    memset((void *)device->sram_base, 0, device->sram_size);
    device->counts.zeroed += device->sram_size;
}
