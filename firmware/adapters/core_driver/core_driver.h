/*
 * Arm's ethos-u-core-driver under names of our own: its header and ours have some in common, such as
 * struct ethosu_device, and cannot be included together.
 *
 * There is one NPU. A run goes from core_driver_start() to core_driver_wait().
 */
#ifndef CORE_DRIVER_H
#define CORE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the last run ended. */
struct core_driver_run {
    uint64_t cycles; /* of the NPU */
    uint32_t status; /* STATUS and QREAD when the run ended, or when it was given up */
    uint32_t qread;
    bool timed_out; /* the driver has stopped it */
    size_t cleaned; /* bytes of cache lines that the driver has asked to be cleaned */
    size_t invalidated;
};

/* Initialise the driver and reset the NPU, whatever it was doing. False: the NPU did not come back. */
bool core_driver_initialise(uintptr_t registers);

/*
 * Run a COP1 payload of `size` bytes with these base addresses. What lies there needs no cache maintenance,
 * and the driver is told so. `bases` stays as it is until the run has ended. False: the driver did not take
 * it.
 */
bool core_driver_start(const void *payload, size_t size, uint64_t *bases, size_t base_count);

/*
 * Wait for the end of the run, at most `timeout_ms` of board time. False: it failed or was given up, and the
 * driver has reset the NPU.
 */
bool core_driver_wait(uint32_t timeout_ms, struct core_driver_run *run);

#endif
