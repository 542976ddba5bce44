/* What the runner says: one function for each type of record. docs/protocol.md describes them. */
#ifndef RUNNER_REPORT_H
#define RUNNER_REPORT_H

#include <stdint.h>

#include "ethosu/ethosu_device.h"
#include "platform/exception.h"
#include "runner/lifetime.h"
#include "runner/plan.h"

/* The first record: who speaks. */
void report_hello(const struct ethosu_device *device);

/* The second record: what the counts of the others are measured with. */
void report_clock(void);

/* A cell begins: until report_end(), faults are its. */
void report_cell(size_t cell_index, const struct plan_cell *cell);

/* What comes from here on belongs to inference `index`; to none of them after report_outside_inferences(). */
void report_inside_inference(size_t index);
void report_outside_inferences(void);

/* The outcome of the current inference, which ran input set `input`; how long it ran is the meter's. */
void report_infer(size_t input, struct outcome outcome, uint64_t npu_cycles);

/* The cost of the last measured stage ("init", "infer" or "destroy"), and what the driver did in it. */
void report_stage(const char *stage, const struct ethosu_counts *counts);

/* The outputs of the current inference. */
void report_outputs(const struct plan_model *model, const uint8_t *outputs);

/* Why a stage of this execution failed. */
void report_failure(const struct execution *execution, struct outcome outcome);

/* Something outside the plan's own steps failed. */
void report_driver_fault(const char *error, const char *where);

/* One measurement of a calibration, and what the driver did in it. */
void report_calibration(const char *operation, size_t size, uint64_t instructions,
                        const struct ethosu_counts *counts);

/* The cell ends with the status of its first failure. */
void report_end(const struct ethosu_device *device, struct outcome first_failure, size_t inferences);

/* The last record, and the byte that ends a model which listens for it. */
void report_bye(void);

#endif
