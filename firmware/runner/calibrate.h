/*
 * Calibration programs: what the driver's primitives cost, measured with the code that inferences run.
 *
 * Each measurement is a record with its instructions and with the counts of what the driver did, so that a
 * cost for each count can be derived: bytes from the slope between two sizes, objects from what their bytes
 * leave.
 */
#ifndef RUNNER_CALIBRATE_H
#define RUNNER_CALIBRATE_H

#include "ethosu/ethosu_device.h"

/*
 * Create and destroy a network and buffers of the least size, map and unmap memory at several sizes, and take
 * temporary memory from the heap and from what was kept.
 */
void calibrate_objects(struct ethosu_device *device);

/* Copy, zero, clean and invalidate DMA memory, at several sizes. */
void calibrate_bytes(struct ethosu_device *device);

#endif
