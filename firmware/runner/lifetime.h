/*
 * Lifetimes: which driver calls are made at initialisation, in each inference, and at destroy.
 *
 * Each stage is a table of steps in their order, and each step says in which modes, and for which models, it
 * is taken; a lifetime is what is left of the tables for one mode and model. What the steps are, and their
 * order, follows ExecuTorch's backends: for the driver's objects Ethos-U on Linux before and after pull
 * request #22599, for the mapping of inputs and outputs VGF before and after #20444, for temporary memory
 * #15611.
 */
#ifndef RUNNER_LIFETIME_H
#define RUNNER_LIFETIME_H

#include "ethosu/ethosu_error.h"
#include "runner/meter.h"
#include "runner/plan.h"

struct execution;

/* Most steps of one list; the tables in lifetime.c are checked against it. */
#define LIFETIME_MAX_STEPS 18

struct step {
    const char *name; /* in records, where a step failed */
    enum phase phase; /* what it is charged to */
    enum ethosu_error (*run)(struct execution *execution);
    unsigned when; /* conditions of lifetime.c, all of which must hold */
};

/* The first failure ends `steps`; `on_failure` follows then, and `at_end` always. Lists end with a NULL. */
struct stage {
    const struct step *steps[LIFETIME_MAX_STEPS + 1];
    const struct step *on_failure[LIFETIME_MAX_STEPS + 1];
    const struct step *at_end[LIFETIME_MAX_STEPS + 1];
};

struct lifetime {
    struct stage stages[PLAN_DESTROY + 1];
};

/* What a model in a cell's mode needs. */
void lifetime_choose(const struct plan_cell *cell, const struct plan_model *model, struct lifetime *lifetime);

/* How a stage went: the error of the first step that failed, and that step; NULL when none did. */
struct outcome {
    enum ethosu_error error;
    const struct step *failed;
};

/* Run a stage in a window of the meter, with the failures that the plan wants in it. */
struct outcome lifetime_run_stage(enum plan_stage stage, struct execution *execution);

#endif
