/* The device of our driver, with Arm's core driver at the registers: ethosu_device.h over core_driver.h. */

#include "ethosu/ethosu_device.h"

#include "adapters/core_driver/core_driver.h"
#include "ethosu/ethosu_registers.h"
#include "platform/bytes.h"
#include "platform/cache.h"
#include "platform/mmu.h"
#include "platform/system.h"

#define NPU_ALIGNMENT 16 /* bytes: of a command stream and of every base address */

/* A COP1 payload: words before its stream. Source: Vela 5.2, regor/tflite/custom_operator_ethosu.hpp. */
#define FOURCC_COP1 UINT32_C(0x31504f43)
#define ACTION_CONFIG 1 /* a CONFIG and an ID word follow */
#define ACTION_STREAM                                                                     \
    2 /* the stream follows; its words are counted in bits 8 to 15 and below, in 16 to 31 \
       */
#define ACTION_NOTHING 5
#define HEADER_WORDS 8

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

enum ethosu_error ethosu_device_reset(struct ethosu_device *device)
{
    device->running = false;
    return core_driver_initialise(device->base) ? ETHOSU_OK : ETHOSU_RESET_FAILED;
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
    return device->calls_until_failure != 0 && --device->calls_until_failure == 0;
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

/* Whether the NPU may start on these. A region that is not used has the address 0. */
static bool are_aligned(struct ethosu_device *device, uintptr_t stream,
                        const uintptr_t regions[ETHOSU_REGIONS])
{
    static const char *const names[ETHOSU_REGIONS] = {"weights", "scratch", "sram", "inputs", "outputs"};
    bool aligned = ethosu_device_is_aligned(device, "stream", stream);

    for (size_t region = 0; region < ETHOSU_REGIONS; region++) {
        aligned = aligned && ethosu_device_is_aligned(device, names[region], regions[region]);
    }
    return aligned;
}

/*
 * Make a COP1 payload of a stream. Its header takes the place of the end of the COP2 header, which every
 * network has before its stream, is longer, and has done its work when the network is created.
 */
static const uint32_t *make_payload(struct ethosu_device *device, uintptr_t stream, size_t size)
{
    uint32_t words = (uint32_t)(size / sizeof(uint32_t));
    const uint32_t header[HEADER_WORDS] = {
        FOURCC_COP1,
        ACTION_CONFIG,
        device->config, /* a network for any other was refused */
        device->id,
        ACTION_NOTHING,
        ACTION_NOTHING,
        ACTION_NOTHING,
        ACTION_STREAM | (words >> 16) << 8 | words << 16,
    };
    uint32_t *payload = (uint32_t *)(stream - sizeof header);

    memcpy(payload, header, sizeof header);
    device->counts.copied += sizeof header;
    device->counts.cleaned += cache_clean(payload, sizeof header);
    return payload;
}

enum ethosu_error ethosu_device_start(struct ethosu_device *device, uintptr_t stream, size_t size,
                                      const uintptr_t regions[ETHOSU_REGIONS])
{
    static uint64_t bases[ETHOSU_REGIONS]; /* the core driver looks at them until the run has ended */

    if (device->running || (mmio_read(device->base + NPU_STATUS) & (STATUS_RUNNING | STATUS_IRQ_RAISED))) {
        return ETHOSU_BUSY; /* another job's end must not be taken for this one's */
    }
    if (!are_aligned(device, stream, regions)) {
        return ETHOSU_MISALIGNED;
    }
    for (size_t region = 0; region < ETHOSU_REGIONS; region++) {
        bases[region] = regions[region];
    }
    const uint32_t *payload = make_payload(device, stream, size);
    device->running =
        core_driver_start(payload, HEADER_WORDS * sizeof(uint32_t) + size, bases, ETHOSU_REGIONS);
    return device->running ? ETHOSU_OK : ETHOSU_BAD_STREAM;
}

enum ethosu_error ethosu_device_wait(struct ethosu_device *device, uint32_t timeout_ms, uint64_t *cycles)
{
    struct core_driver_run run;
    bool ended_well = core_driver_wait(timeout_ms, &run);

    device->running = false;
    device->counts.cleaned += run.cleaned;
    device->counts.invalidated += run.invalidated;
    if (!ended_well) {
        device->fault_status = run.status;
        device->fault_qread = run.qread;
        return run.timed_out ? ETHOSU_TIMED_OUT : ETHOSU_NPU_FAULT;
    }
    *cycles = run.cycles;
    return *cycles == 0 ? ETHOSU_NO_CYCLES : ETHOSU_OK;
}

void ethosu_device_clear_sram(struct ethosu_device *device)
{
    memset((void *)device->sram_base, 0, device->sram_size);
    device->counts.zeroed += device->sram_size;
}
