/* Cells: one model in one mode, from initialisation to destroy, and records of all that happened. */
#ifndef RUNNER_CELL_H
#define RUNNER_CELL_H

#include "ethosu/ethosu_device.h"

/* Run all cells of the plan, in order. A cell that fails is reported, and the next one is run. */
void run_cells(struct ethosu_device *device);

#endif
