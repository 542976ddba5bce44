/* The device of our driver, with Arm's core driver at the registers: ethosu_device.h over core_driver.h. */

#include "ethosu/ethosu_device.h"

#include "adapters/core_driver/core_driver.h"
#include "ethosu/ethosu_registers.h"
#include "platform/bytes.h"
#include "platform/cache.h"
#include "platform/system.h"

/* A COP1 payload: words before its stream. Source: Vela 5.2, regor/tflite/custom_operator_ethosu.hpp. */
#define FOURCC_COP1 UINT32_C(0x31504f43)
#define ACTION_CONFIG 1 /* a CONFIG and an ID word follow */
#define ACTION_STREAM 2 /* the stream follows; bits 16 to 31 count its words, and 8 to 15 above those */
#define ACTION_NOTHING 5
#define HEADER_WORDS 8

enum ethosu_error ethosu_device_reset(struct ethosu_device *device)
{
    device->running = false;
    return core_driver_initialise(device->base) ? ETHOSU_OK : ETHOSU_RESET_FAILED;
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
    if (!ethosu_device_are_aligned(device, stream, regions)) {
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
