/* What the runner says: one function for each type of record. docs/protocol.md describes them. */
#ifndef RUNNER_REPORT_H
#define RUNNER_REPORT_H

#include <stdint.h>

#include "ethosu/ethosu_device.h"
#include "platform/exception.h"
#include "runner/cost.h"
#include "runner/execution.h"

/* The first record: who speaks. */
void report_hello(const struct ethosu_device *device);

/* The second record: what the counts of the others are measured with. */
void report_clock(void);

/* A cell begins: until report_end(), faults are its. */
void report_cell(size_t cell_index, const struct plan_cell *cell);

/* What comes from here on belongs to this model, until report_slot_end(). */
void report_slot(const struct execution *execution);

/* What comes from here on belongs to inference `index`; to none of them after report_outside_inferences(). */
void report_inside_inference(size_t index);
void report_outside_inferences(void);

/*
 * The outcome of the current inference, which ran input set `input`; how long it ran is the meter's. Where
 * its cost is the same as that of the slot's last inference, this says so, and report_cost() is not called.
 */
void report_infer(size_t input, struct outcome outcome, uint64_t npu_cycles, bool is_cost_same);

/* The cost of the last measured stage. */
void report_cost(enum plan_stage stage, const struct cost *cost);

/* Where the NPU is told to find things, if that is not what was reported last. */
void report_places(struct execution *execution);

/*
 * The outputs of the current inference; `reported` is what was said of those of the same slot and input set.
 */
void report_outputs(const struct plan_model *model, const uint8_t *outputs, struct plan_reported *reported);

/* Why a stage of this execution failed. */
void report_failure(const struct execution *execution, struct outcome outcome);

/* Something outside the plan's own steps failed. */
void report_driver_fault(const char *error, const char *where);

/* One measurement of a calibration, and what was done in it. */
void report_calibration(const char *operation, size_t size, uint64_t instructions, const struct cost *cost);

/* A slot ends with the status of its first failure. */
void report_slot_end(const struct execution *execution);

/* The cell ends; everything that still lives was leaked. */
void report_end(const struct ethosu_device *device, const struct heap *heap);

/* The last record, and the byte that ends a model which listens for it. */
void report_bye(void);

#endif
