#include "ethosu_driver.h"

#include "ethosu_config_u85.h"
#include "ethosu_log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#ifndef ETHOSU85
#error Missing device type macro
#endif

enum reg {
    ID = 0x00 / 4,
    STATUS = 0x04 / 4,
    CMD = 0x08 / 4,
    RESET = 0x0c / 4,
    QBASE = 0x10 / 4,
    QCONFIG = 0x1c / 4,
    QSIZE = 0x20 / 4,
    PROT = 0x24 / 4,
    CONFIG = 0x28 / 4,
    REGIONCFG = 0x3c / 4,
    MEM_ATTR = 0x40 / 4,
    AXI_SRAM = 0x50 / 4,
    AXI_EXT = 0x54 / 4,
    BASEP = 0x80 / 4,
};

#define FAULTS (1u << 2 | 1u << 4 | 1u << 8 | 1u << 9)
#define END_REACHED (1u << 5)
#define CLOCK_AND_POWER 0xcu

uint64_t __attribute__((weak)) ethosu_address_remap(uint64_t address, int index)
{
    (void)index;
    return address;
}

bool ethosu_dev_init(struct ethosu_device *dev, void *base_address, uint32_t secure, uint32_t privileged)
{
    dev->reg = base_address;
    dev->access = (privileged ? 1 : 0) | (secure ? 0 : 2);
    return dev->reg[CONFIG] >> 28 == 2 && ethosu_dev_soft_reset(dev);
}

bool ethosu_dev_soft_reset(struct ethosu_device *dev)
{
    volatile uint32_t *reg = dev->reg;

    reg[RESET] = dev->access;
    for (int i = 0; i < 100000 && (reg[STATUS] & 8); i++) {
    }
    if ((reg[STATUS] & 8) || reg[PROT] != dev->access) {
        LOG_ERR("status=0x%08" PRIx32, reg[STATUS]);
        return false;
    }
    reg[MEM_ATTR] = NPU_MEM_ATTR_0;
    reg[MEM_ATTR + 2] = NPU_MEM_ATTR_2;
    reg[AXI_SRAM] = (AXI_LIMIT_SRAM_MAX_OUTSTANDING_READ - 1) | AXI_LIMIT_SRAM_MAX_BEATS << 16;
    reg[AXI_EXT] = (AXI_LIMIT_EXT_MAX_OUTSTANDING_READ - 1) | AXI_LIMIT_EXT_MAX_BEATS << 16;
    reg[QCONFIG] = NPU_QCONFIG;
    reg[REGIONCFG] = NPU_REGIONCFG_0 | NPU_REGIONCFG_1 << 2 | NPU_REGIONCFG_2 << 4 | NPU_REGIONCFG_3 << 6
                     | NPU_REGIONCFG_4 << 8;
    return true;
}

bool ethosu_dev_is_made_for(struct ethosu_device *dev, uint32_t config, uint32_t id)
{
    return config == dev->reg[CONFIG] && id >> 28 == dev->reg[ID] >> 28;
}

void ethosu_dev_set_clock_and_power(struct ethosu_device *dev, bool may_stop)
{
    dev->reg[CMD] = may_stop ? CLOCK_AND_POWER : 0;
}

void ethosu_dev_run_command_stream(struct ethosu_device *dev, const uint8_t *stream, uint32_t bytes,
                                   const uint64_t *base_addr, int num_base_addr)
{
    uint64_t queue = ethosu_address_remap((uintptr_t)stream, -1);

    assert(num_base_addr <= 8);
    dev->reg[QBASE] = queue;
    dev->reg[QBASE + 1] = queue >> 32;
    dev->reg[QSIZE] = bytes;
    for (int i = 0; i < num_base_addr; i++) {
        uint64_t address = ethosu_address_remap(base_addr[i], i);
        dev->reg[BASEP + 2 * i] = address;
        dev->reg[BASEP + 2 * i + 1] = address >> 32;
    }
    dev->reg[CMD] = (dev->reg[CMD] & CLOCK_AND_POWER) | 1;
}

bool ethosu_dev_handle_interrupt(struct ethosu_device *dev)
{
    dev->reg[CMD] = (dev->reg[CMD] & CLOCK_AND_POWER) | 2;
    return (dev->reg[STATUS] & (FAULTS | END_REACHED)) == END_REACHED;
}
