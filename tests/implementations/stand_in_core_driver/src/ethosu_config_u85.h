/* Defaults that no board here can use: whoever builds the stand-in has to override them, as with Arm's. */
#ifndef ETHOSU_CONFIG_U85_H
#define ETHOSU_CONFIG_U85_H

#ifndef NPU_MEM_ATTR_0
#define NPU_MEM_ATTR_0 0
#endif
#ifndef NPU_MEM_ATTR_2
#define NPU_MEM_ATTR_2 0
#endif
#ifndef NPU_QCONFIG
#define NPU_QCONFIG 0
#endif
#ifndef NPU_REGIONCFG_0
#define NPU_REGIONCFG_0 0
#define NPU_REGIONCFG_1 0
#define NPU_REGIONCFG_2 2
#define NPU_REGIONCFG_3 0
#define NPU_REGIONCFG_4 0
#endif
#ifndef AXI_LIMIT_SRAM_MAX_OUTSTANDING_READ
#define AXI_LIMIT_SRAM_MAX_OUTSTANDING_READ 1
#define AXI_LIMIT_EXT_MAX_OUTSTANDING_READ 1
#endif
#ifndef AXI_LIMIT_SRAM_MAX_BEATS
#define AXI_LIMIT_SRAM_MAX_BEATS 0
#define AXI_LIMIT_EXT_MAX_BEATS 0
#endif

#endif
