#include "ethosu/ethosu_device.h"

#include "ethosu/ethosu_registers.h"
#include "platform/counters.h"
#include "platform/system.h"

#define RESET_TIMEOUT_MS 100

/*
 * Memory attribute 0 is the SRAM port, 2 the external port. Region 2 lies in SRAM, the others and the command
 * stream in DRAM: REGIONCFG has two bits for each region. As in Linux's drivers/accel/ethosu.
 */
#define ATTRIBUTE_SRAM 0
#define ATTRIBUTE_DRAM 2
#define REGIONCFG_SRAM_FOR_REGION_2 UINT32_C(0xaa8a)

static uint32_t device_read(const struct ethosu_device *device, uintptr_t offset)
{
    return mmio_read(device->base + offset);
}

static void device_write(const struct ethosu_device *device, uintptr_t offset, uint32_t value)
{
    mmio_write(device->base + offset, value);
}

static void device_write_address(const struct ethosu_device *device, uintptr_t offset, uintptr_t address)
{
    device_write(device, offset, (uint32_t)address);
    device_write(device, offset + 4, (uint32_t)(address >> 32));
}

enum ethosu_error ethosu_device_reset(struct ethosu_device *device)
{
    uint64_t deadline = deadline_in(RESET_TIMEOUT_MS);

    device_write(device, NPU_RESET, ACCESS_PRIVILEGED_NON_SECURE);
    while (device_read(device, NPU_STATUS) & STATUS_RESETTING) {
        if (deadline_passed(deadline)) {
            return ETHOSU_RESET_FAILED;
        }
    }
    if (device_read(device, NPU_PROT) != ACCESS_PRIVILEGED_NON_SECURE) {
        return ETHOSU_RESET_FAILED;
    }
    device_write(device, NPU_MEM_ATTR(ATTRIBUTE_SRAM), MEM_ATTR_NORMAL_NON_CACHEABLE);
    device_write(device, NPU_MEM_ATTR(ATTRIBUTE_DRAM), MEM_ATTR_NORMAL_NON_CACHEABLE | MEM_ATTR_PORT_EXT);
    device_write(device, NPU_AXI_SRAM, AXI_LIMITS_MAX);
    device_write(device, NPU_AXI_EXT, AXI_LIMITS_MAX);
    device_write(device, NPU_QCONFIG, ATTRIBUTE_DRAM);
    device_write(device, NPU_REGIONCFG, REGIONCFG_SRAM_FOR_REGION_2);
    device->running = false;
    return ETHOSU_OK;
}

enum ethosu_error ethosu_device_start(struct ethosu_device *device, uintptr_t stream, size_t size,
                                      const uintptr_t regions[ETHOSU_REGIONS])
{
    if (device->running || (device_read(device, NPU_STATUS) & (STATUS_RUNNING | STATUS_IRQ_RAISED))) {
        return ETHOSU_BUSY; /* another job's end must not be taken for this one's */
    }
    if (!ethosu_device_are_aligned(device, stream, regions)) {
        return ETHOSU_MISALIGNED;
    }
    device_write_address(device, NPU_QBASE, stream);
    device_write(device, NPU_QSIZE, (uint32_t)size);
    for (uintptr_t region = 0; region < ETHOSU_REGIONS; region++) {
        device_write_address(device, NPU_BASEP(region), regions[region]);
    }
    device_write(device, NPU_PMCNTENSET, PMCNTEN_CYCLES);
    device_write(device, NPU_PMCR, PMCR_COUNT_ENABLE | PMCR_CYCLE_RESET);
    barrier_all(); /* what the CPU wrote is in memory before the NPU starts to read */
    device->running = true;
    /* Power stays on, so that the counter can be read afterwards; the clock may stop, so it stands still. */
    device_write(device, NPU_CMD, CMD_RUN | CMD_CLOCK_Q_ENABLE);
    return ETHOSU_OK;
}

/* The 48-bit cycle counter, whose halves are read apart: again when the low half wrapped in between. */
static uint64_t read_cycles(const struct ethosu_device *device)
{
    uint32_t high = device_read(device, NPU_PMCCNTR_HIGH);

    for (;;) {
        uint32_t low = device_read(device, NPU_PMCCNTR_LOW);
        uint32_t high_again = device_read(device, NPU_PMCCNTR_HIGH);
        if (high == high_again) {
            return (uint64_t)(high & 0xffff) << 32 | low;
        }
        high = high_again;
    }
}

static void keep_fault(struct ethosu_device *device, uint32_t status)
{
    device->fault_status = status;
    device->fault_qread = device_read(device, NPU_QREAD);
}

enum ethosu_error ethosu_device_wait(struct ethosu_device *device, uint32_t timeout_ms, uint64_t *cycles)
{
    uint64_t deadline = deadline_in(timeout_ms);
    uint32_t status = device_read(device, NPU_STATUS);

    while ((status & STATUS_RUNNING) || !(status & STATUS_IRQ_RAISED)) {
        if (deadline_passed(deadline)) {
            keep_fault(device, status);
            return ETHOSU_TIMED_OUT;
        }
        status = device_read(device, NPU_STATUS);
    }
    barrier_all(); /* no read of the results before this one of the status */
    if ((status & STATUS_FAULTS) || !(status & STATUS_END_REACHED)) {
        keep_fault(device, status);
        enum ethosu_error error = ethosu_device_reset(device);
        return error == ETHOSU_OK ? ETHOSU_NPU_FAULT : error;
    }
    device_write(device, NPU_PMCNTENCLR, PMCNTEN_CYCLES);
    device_write(device, NPU_CMD, CMD_CLEAR_IRQ | CMD_CLOCK_Q_ENABLE);
    device->running = false;
    *cycles = read_cycles(device);
    return *cycles == 0 ? ETHOSU_NO_CYCLES : ETHOSU_OK;
}
