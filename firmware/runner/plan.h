/* The plan: which models the image holds, and what it does with them. The tables are generated. */
#ifndef RUNNER_PLAN_H
#define RUNNER_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct ethosu_device;
struct lifetime;

/* A compiled model. Blobs start at multiples of 16; sizes are in bytes. */
struct plan_model {
    const uint8_t *command_stream; /* the whole COP2 payload */
    size_t command_stream_size;
    const uint8_t *weights; /* NULL when there are none */
    size_t weights_size;
    size_t scratch_size;      /* 0: no scratch buffer */
    size_t scratch_fast_size; /* bytes of NPU SRAM that the stream uses */
    const size_t *input_sizes;
    size_t input_count;
    const size_t *output_sizes;
    size_t output_count;
    const uint8_t *const *input_sets; /* input_count tensors for each set, one set after the other */
};

/* One model in one mode: initialise, run the input sets in `sequence`, destroy. */
struct plan_cell {
    const struct plan_model *model;
    size_t model_index;
    const struct lifetime *driver; /* of network and buffers */
    const char *io;                /* the other axes of the mode, as reported */
    const char *temp;
    const size_t *sequence; /* for each inference the index of its input set */
    size_t sequence_length;
};

struct plan {
    void (*program)(struct ethosu_device *device); /* what the image does: run_cells or a calibration */
    const struct plan_cell *cells;                 /* NULL when there are none */
    size_t cell_count;
    uint8_t *outputs;              /* room for the outputs of any one model; NULL when there are no models */
    uint32_t inference_timeout_ms; /* board time */
};

extern const struct plan plan;

/* What tells this run and this image from others: 16 hexadecimal digits each. */
extern const char identity_nonce[];
extern const char identity_build[];

#endif
