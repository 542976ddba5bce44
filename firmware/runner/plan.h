/* The plan: which models the image holds, and what it does with them. The tables are generated. */
#ifndef RUNNER_PLAN_H
#define RUNNER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/temp.h"
#include "runner/sha256.h"

struct ethosu_device;
struct execution;

/* A compiled model. Blobs start at multiples of 16; sizes are in bytes. */
struct plan_model {
    const uint8_t *command_stream; /* the whole COP2 payload */
    size_t command_stream_size;
    const uint8_t *weights; /* NULL when there are none */
    size_t weights_size;
    size_t scratch_size;      /* 0: no scratch memory */
    bool io_is_in_scratch;    /* inputs and outputs lie in scratch memory, and have no buffers */
    size_t scratch_fast_size; /* bytes of NPU SRAM that the stream uses */
    const size_t *input_sizes;
    size_t input_count;
    const size_t *output_sizes;
    size_t output_count;
    const size_t *input_buffer_sizes; /* in the order in which the compiler has placed the buffers */
    const size_t *output_buffer_sizes;
    const size_t *input_buffers; /* for each input the number of its buffer in that order */
    const size_t *output_buffers;
    const size_t *input_offsets; /* bytes from the start of the scratch memory, where they lie in it */
    const size_t *output_offsets;
    const uint8_t *const *input_sets; /* input_count tensors for each set, one set after the other */
    size_t input_set_count;
    const size_t *variable_sizes; /* of memory that is kept between inferences; NULL when there is none */
    const size_t *variable_offsets; /* bytes from the start of the scratch memory, where they all lie */
    size_t variable_count;
    const uint8_t *initial_state; /* what the variables start from, one after the other */
    size_t state_size;
};

enum plan_lifetime {
    PLAN_PER_INFERENCE,
    PLAN_PERSISTENT,
};

/* One inference: the model in `slot` on its input set `input`. */
struct plan_job {
    size_t slot;
    size_t input;
};

/* Some models, loaded at once, in one mode: initialise each, run the jobs, destroy each. */
struct plan_cell {
    enum plan_lifetime driver; /* of network and buffers */
    enum plan_lifetime io;     /* of the CPU's mappings of inputs and outputs */
    enum temp_kind temp;       /* where temporary memory comes from */
    const size_t *models;      /* for each slot the index of its model */
    size_t slot_count;
    const struct plan_job *jobs;
    size_t job_count;
};

enum plan_stage {
    PLAN_INITIALISE,
    PLAN_INFER,
    PLAN_DESTROY,
};

/* A step that is made to fail: see ethosu_device_must_fail(). */
struct plan_failure {
    enum plan_stage stage;
    const char *step;
    size_t slot;
    size_t occurrence; /* in which run of that stage for that slot, from 0 */
    uint32_t call;     /* which of the step's calls that create something, from 1 */
};

/* The outputs of a slot for one of its input sets, as they were reported. */
struct plan_reported {
    bool is_known;
    struct sha256 digest;
};

struct plan {
    void (*program)(struct ethosu_device *device); /* what the image does: run_cells or a calibration */
    const struct plan_model *models;               /* NULL when there are none, as the next ones */
    const struct plan_cell *cells;
    size_t cell_count;
    const struct plan_failure *failures;
    size_t failure_count;
    struct execution *slots;        /* room for those of any one cell */
    struct plan_reported *reported; /* room for the input sets of all slots of any one cell */
    uint8_t *outputs;               /* room for the outputs of any one model */
    uint8_t *states;                /* room for the variables of all slots of any one cell */
    uint8_t *new_state;             /* room for those of any one slot, until all of them are read */
    uint32_t inference_timeout_ms;  /* board time */
    size_t temp_limit;              /* bytes: max_size of the caching allocator */
    bool scratch_is_temporary;      /* scratch memory comes from the allocator, and is no buffer */
    bool io_is_shared;              /* inputs and outputs of a model lie in one memory */
    bool zero_on_destroy;           /* see struct ethosu_platform */
    bool poison;                    /* outputs are overwritten before each inference */
    bool keep_state; /* variables are what the inference before has left, and not their initial values */
};

extern const struct plan plan;

/* What tells this run and this image from others: 16 hexadecimal digits each. */
extern const char identity_nonce[];
extern const char identity_build[];

#endif
