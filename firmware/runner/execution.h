/* An execution: one loaded model, the driver objects that it has, and what its next inference works on. */
#ifndef RUNNER_EXECUTION_H
#define RUNNER_EXECUTION_H

#include "ethosu/ethosu_inference.h"
#include "memory/temp.h"
#include "runner/cost.h"
#include "runner/lifetime.h"
#include "runner/plan.h"

/* Where the NPU was last told to find things; 0 what it was not told of. */
struct places {
    uintptr_t stream;
    uintptr_t weights;
    uintptr_t scratch;
    uintptr_t inputs;
    uintptr_t outputs;
};

struct execution {
    struct ethosu_device *device;
    size_t slot;
    const struct plan_model *model;
    struct lifetime lifetime;
    bool is_initialised;
    struct outcome first_failure;   /* of all stages so far */
    struct plan_reported *reported; /* one for each input set */
    struct cost last_cost;          /* of the last inference; nothing before the first */
    bool io_is_persistent;        /* inputs and outputs stay mapped from initialisation on */
    struct temp *temp;            /* shared by all models of the cell */
    const uint8_t *const *inputs; /* tensors of the current inference */
    uint8_t *outputs;             /* where the outputs go, each from a multiple of 16 on */
    uint32_t timeout_ms;
    size_t stages_run[PLAN_DESTROY + 1]; /* how often each stage has been run */
    const struct step *failing_step;     /* made to fail in the current run of a stage; NULL: none */
    uint32_t failing_call;
    struct ethosu_network network;
    struct ethosu_batch weights;
    struct ethosu_batch scratch;
    uintptr_t temporary_scratch; /* scratch memory that is no buffer; 0: none */
    struct ethosu_memory input_memory; /* of the inputs, and the outputs, when it outlives their buffers */
    struct ethosu_memory output_memory;
    struct ethosu_batch input_batch;
    struct ethosu_batch output_batch;
    struct ethosu_inference inference;
    struct places places;
    struct places reported_places;
    uint8_t *state; /* what the next inference finds in its variables, unless they stay in scratch memory */
};

#endif
