/*
 * How the core driver sets the NPU up: with the memory attributes and limits of our ethosu_device.c, under
 * the names of its ethosu_config_u85.h, which leaves them alone where they are defined.
 */
#ifndef CORE_DRIVER_SETTINGS_H
#define CORE_DRIVER_SETTINGS_H

#include "adapters/core_driver/variant.h"

/* No log, since it would have to share the console with the records; the severity is below all that there
 * are. */
#define ETHOSU_LOG_ENABLE 0
#define ETHOSU_LOG_SEVERITY (-1)

/* Attribute 0 is the SRAM port, 2 the external port; both normal non-cacheable memory. */
#define NPU_MEM_ATTR_0 (3 << 4)
#define NPU_MEM_ATTR_2 (3 << 4 | 1 << 2)

/* Region 2 lies in SRAM, the others and the command stream in DRAM. */
#define NPU_QCONFIG 2
#define NPU_REGIONCFG_0 2
#define NPU_REGIONCFG_1 2
#define NPU_REGIONCFG_2 0
#define NPU_REGIONCFG_3 2
#define NPU_REGIONCFG_4 2

/* 64 reads and 32 writes outstanding, bursts of 256 bytes. Older releases have the names with _M1. */
#define AXI_LIMIT_SRAM_MAX_OUTSTANDING_READ 64
#define AXI_LIMIT_SRAM_MAX_OUTSTANDING_WRITE 32
#define AXI_LIMIT_SRAM_MAX_BEATS 2
#define AXI_LIMIT_EXT_MAX_OUTSTANDING_READ 64
#define AXI_LIMIT_EXT_MAX_OUTSTANDING_WRITE 32
#define AXI_LIMIT_EXT_MAX_BEATS 2
#define AXI_LIMIT_SRAM_MAX_OUTSTANDING_READ_M1 AXI_LIMIT_SRAM_MAX_OUTSTANDING_READ
#define AXI_LIMIT_SRAM_MAX_OUTSTANDING_WRITE_M1 AXI_LIMIT_SRAM_MAX_OUTSTANDING_WRITE
#define AXI_LIMIT_EXT_MAX_OUTSTANDING_READ_M1 AXI_LIMIT_EXT_MAX_OUTSTANDING_READ
#define AXI_LIMIT_EXT_MAX_OUTSTANDING_WRITE_M1 AXI_LIMIT_EXT_MAX_OUTSTANDING_WRITE

#endif
