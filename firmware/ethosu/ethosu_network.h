/*
 * A network: a command stream that the driver has copied into DMA memory and checked against the NPU.
 *
 * The payload is COP1 or COP2, as Vela writes them.
 */
#ifndef ETHOSU_NETWORK_H
#define ETHOSU_NETWORK_H

#include "ethosu/ethosu_memory.h"

struct ethosu_network {
    struct ethosu_device *device; /* NULL: not created */
    struct ethosu_memory memory;  /* the whole payload */
    uintptr_t stream;             /* the command stream in it */
    size_t stream_size;           /* bytes */
    struct ethosu_entry *entry;
    uint32_t config;              /* its CONFIG word; set also when creation fails with ETHOSU_WRONG_CONFIG */
};

/*
 * Copy a payload of `size` bytes, check it, and make `network` of it.
 * ETHOSU_BAD_STREAM, ETHOSU_WRONG_CONFIG, ETHOSU_WRONG_VERSION, ETHOSU_MISALIGNED, ETHOSU_ZERO_SIZE or
 * ETHOSU_OUT_OF_MEMORY: nothing is left behind.
 */
enum ethosu_error ethosu_network_create(struct ethosu_device *device, const void *payload, size_t size,
                                        struct ethosu_network *network);

/* Zero and free its memory. Does nothing when it was not created. */
void ethosu_network_destroy(struct ethosu_network *network);

#endif
