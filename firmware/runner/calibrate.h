/*
 * Calibration: what the driver's primitives cost, measured with the code that inferences run.
 *
 * Each measurement is a record with its instructions and with the counts of what the driver did, so that a
 * cost for each count can be derived: bytes from the slope between two sizes, objects from what their bytes
 * leave.
 */
#ifndef RUNNER_CALIBRATE_H
#define RUNNER_CALIBRATE_H

#include "ethosu/ethosu_device.h"

/*
 * Two programs, one after the other. The first creates and destroys a network and buffers of the least size,
 * maps and unmaps memory at several sizes, and takes temporary memory from the heap and from what was kept.
 * The second copies, zeroes, cleans and invalidates DMA memory, at several sizes.
 */
void calibrate(struct ethosu_device *device);

#endif
