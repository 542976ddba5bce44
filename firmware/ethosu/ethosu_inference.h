/* An inference: one run of a network on buffers. Creating it starts the job; it cannot be run again. */
#ifndef ETHOSU_INFERENCE_H
#define ETHOSU_INFERENCE_H

#include "ethosu/ethosu_buffer.h"
#include "ethosu/ethosu_network.h"

enum ethosu_status {
    ETHOSU_STATUS_RUNNING,
    ETHOSU_STATUS_OK,
    ETHOSU_STATUS_ERROR,
    ETHOSU_STATUS_ABORTED, /* closed while it was running */
};

struct ethosu_inference {
    struct ethosu_device *device; /* NULL: not created */
    enum ethosu_status status;
    uint64_t cycles; /* what the NPU took; holds with ETHOSU_STATUS_OK */
    struct ethosu_entry *entry;
};

/*
 * Start `network`. `weights` may be a batch that was never created and `scratch`, an address, 0, where the
 * stream does not use them. Scratch memory that is not a buffer's has no line in the CPU's caches.
 * ETHOSU_BUSY or ETHOSU_MISALIGNED, as ethosu_device_start() says: nothing was created.
 */
enum ethosu_error
ethosu_inference_create(const struct ethosu_network *network, const struct ethosu_batch *weights,
                        uintptr_t scratch, const struct ethosu_batch *inputs,
                        const struct ethosu_batch *outputs, struct ethosu_inference *inference);

/*
 * Wait until it has ended, at most `timeout_ms` of board time.
 * ETHOSU_OK: its status is OK and its cycles hold. ETHOSU_TIMED_OUT: it is still running. Every other error:
 * its status is ERROR, and the NPU is idle again, unless it is ETHOSU_RESET_FAILED.
 */
enum ethosu_error ethosu_inference_wait(struct ethosu_inference *inference, uint32_t timeout_ms);

/*
 * Close it; when it is still running the NPU is reset first, and its status is ABORTED. Does nothing when it
 * was not created. ETHOSU_RESET_FAILED when the NPU could not be stopped.
 */
enum ethosu_error ethosu_inference_destroy(struct ethosu_inference *inference);

#endif
