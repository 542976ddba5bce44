/*
 * Lifetimes: which driver calls are made at initialisation, in each inference, and at destroy.
 *
 * A lifetime is data: for each stage a list of steps. What the steps are, and their order, is what
 * ExecuTorch's Ethos-U backend does on Linux: everything within execute() before pull request #22599, and the
 * objects created once, at initialisation, after it.
 */
#ifndef RUNNER_LIFETIME_H
#define RUNNER_LIFETIME_H

#include "ethosu/ethosu_inference.h"
#include "runner/meter.h"
#include "runner/plan.h"

/* The driver objects of one cell, and what its steps need. */
struct execution {
    struct ethosu_device *device;
    const struct plan_model *model;
    const uint8_t *const *inputs; /* tensors of the current inference */
    uint8_t *outputs;             /* where the outputs go, each from a multiple of 16 on */
    uint32_t timeout_ms;
    struct ethosu_network network;
    struct ethosu_batch weights;
    struct ethosu_batch scratch;
    struct ethosu_batch input_batch;
    struct ethosu_batch output_batch;
    struct ethosu_inference inference;
};

struct step {
    const char *name; /* in records, where a step failed */
    enum phase phase; /* what it is charged to */
    enum ethosu_error (*run)(struct execution *execution);
    size_t (*needed)(const struct plan_model *model); /* skipped when this says 0; NULL: always run */
};

/* Lists end with a NULL. The first failure ends `steps`; `on_failure` follows then, and `at_end` always. */
struct stage {
    const struct step *const *steps;
    const struct step *const *on_failure;
    const struct step *const *at_end;
};

struct lifetime {
    const char *name;
    struct stage initialise;
    struct stage infer;
    struct stage destroy;
};

extern const struct lifetime lifetime_per_inference;
extern const struct lifetime lifetime_persistent;

/* How a stage went: the error of the first step that failed, and that step; NULL when none did. */
struct outcome {
    enum ethosu_error error;
    const struct step *failed;
};

/* Run a stage in a window of the meter. */
struct outcome lifetime_run_stage(const struct stage *stage, struct execution *execution);

#endif
