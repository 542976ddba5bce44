/*
 * Registers of the Ethos-U85: byte offsets and bits.
 *
 * Source: the register description in Vela 5.2, regor/architecture/ethosu85/ethos_u85_interface.hpp.
 */
#ifndef ETHOSU_REGISTERS_H
#define ETHOSU_REGISTERS_H

#include <stdint.h>

#define NPU_ID 0x0000
#define NPU_STATUS 0x0004
#define NPU_CMD 0x0008
#define NPU_RESET 0x000c
#define NPU_QBASE 0x0010 /* 64 bits in two words, as BASEP */
#define NPU_QREAD 0x0018
#define NPU_QCONFIG 0x001c
#define NPU_QSIZE 0x0020
#define NPU_PROT 0x0024
#define NPU_CONFIG 0x0028
#define NPU_REGIONCFG 0x003c
#define NPU_MEM_ATTR(index) (0x0040 + 4 * (index))
#define NPU_AXI_SRAM 0x0050
#define NPU_AXI_EXT 0x0054
#define NPU_BASEP(region) (0x0080 + 8 * (region))
#define NPU_PMCR 0x1180
#define NPU_PMCNTENSET 0x1184
#define NPU_PMCNTENCLR 0x1188
#define NPU_PMCCNTR_LOW 0x11a0
#define NPU_PMCCNTR_HIGH 0x11a4

#define STATUS_RUNNING (UINT32_C(1) << 0)
#define STATUS_IRQ_RAISED (UINT32_C(1) << 1)
#define STATUS_BUS_ERROR (UINT32_C(1) << 2)
#define STATUS_RESETTING (UINT32_C(1) << 3)
#define STATUS_PARSE_ERROR (UINT32_C(1) << 4)
#define STATUS_END_REACHED (UINT32_C(1) << 5)
#define STATUS_ECC_FAULT (UINT32_C(1) << 8)
#define STATUS_BRANCH_FAULT (UINT32_C(1) << 9)
#define STATUS_FAULTS (STATUS_BUS_ERROR | STATUS_PARSE_ERROR | STATUS_ECC_FAULT | STATUS_BRANCH_FAULT)

#define CMD_RUN (UINT32_C(1) << 0)
#define CMD_CLEAR_IRQ (UINT32_C(1) << 1)
#define CMD_CLOCK_Q_ENABLE (UINT32_C(1) << 2) /* the clock may stop when the NPU is idle */

/* RESET and PROT: privileged, non-secure. */
#define ACCESS_PRIVILEGED_NON_SECURE UINT32_C(3)

#define CONFIG_PRODUCT(config) ((config) >> 28)
#define CONFIG_PRODUCT_U85 UINT32_C(2)
#define ID_ARCH_MAJOR(id) ((id) >> 28)
#define ID_ARCH_MINOR(id) ((id) >> 20 & 0xff)

#define MEM_ATTR_PORT_EXT (UINT32_C(1) << 2) /* clear: the SRAM port */
#define MEM_ATTR_NORMAL_NON_CACHEABLE (UINT32_C(3) << 4)
/* 64 reads and 32 writes outstanding, bursts of 256 bytes; the hardware caps them at what it has. */
#define AXI_LIMITS_MAX (UINT32_C(2) << 16 | UINT32_C(31) << 8 | UINT32_C(63))

#define PMCR_COUNT_ENABLE (UINT32_C(1) << 0)
#define PMCR_CYCLE_RESET (UINT32_C(1) << 2)
#define PMCNTEN_CYCLES (UINT32_C(1) << 31)

#endif
