/* The stand-in's NPU. It has the file name, include guard and struct tag of another header, as Arm's has. */
#ifndef ETHOSU_DEVICE_H
#define ETHOSU_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct ethosu_device {
    volatile uint32_t *reg;
    uint32_t access; /* what RESET asks for and PROT shows */
};

bool ethosu_dev_init(struct ethosu_device *dev, void *base_address, uint32_t secure, uint32_t privileged);
bool ethosu_dev_soft_reset(struct ethosu_device *dev);
bool ethosu_dev_is_made_for(struct ethosu_device *dev, uint32_t config, uint32_t id);
void ethosu_dev_set_clock_and_power(struct ethosu_device *dev, bool may_stop);
void ethosu_dev_run_command_stream(struct ethosu_device *dev, const uint8_t *stream, uint32_t bytes,
                                   const uint64_t *base_addr, int num_base_addr);
bool ethosu_dev_handle_interrupt(struct ethosu_device *dev);

#endif
