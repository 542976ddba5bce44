#include "runner/lifetime.h"

static enum ethosu_error create_network(struct execution *execution)
{
    return ethosu_network_create(execution->device, execution->model->command_stream,
                                 execution->model->command_stream_size, &execution->network);
}

static size_t weights_needed(const struct plan_model *model)
{
    return model->weights_size;
}

static enum ethosu_error create_weights(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    enum ethosu_error error =
        ethosu_batch_create(execution->device, &model->weights_size, 1, &execution->weights);

    if (error == ETHOSU_OK) {
        error = ethosu_buffer_write(&execution->weights, 0, model->weights, model->weights_size);
    }
    return error;
}

static size_t scratch_needed(const struct plan_model *model)
{
    return model->scratch_size;
}

static enum ethosu_error create_scratch(struct execution *execution)
{
    return ethosu_batch_create(execution->device, &execution->model->scratch_size, 1, &execution->scratch);
}

static enum ethosu_error create_inputs(struct execution *execution)
{
    const struct plan_model *model = execution->model;

    return ethosu_batch_create(execution->device, model->input_sizes, model->input_count,
                               &execution->input_batch);
}

static enum ethosu_error create_outputs(struct execution *execution)
{
    const struct plan_model *model = execution->model;

    return ethosu_batch_create(execution->device, model->output_sizes, model->output_count,
                               &execution->output_batch);
}

static enum ethosu_error rewind_inputs(struct execution *execution)
{
    ethosu_batch_rewind(&execution->input_batch);
    return ETHOSU_OK;
}

static enum ethosu_error rewind_outputs(struct execution *execution)
{
    ethosu_batch_rewind(&execution->output_batch);
    return ETHOSU_OK;
}

static enum ethosu_error write_inputs(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    enum ethosu_error error = ETHOSU_OK;

    for (size_t i = 0; i < model->input_count && error == ETHOSU_OK; i++) {
        error = ethosu_buffer_write(&execution->input_batch, i, execution->inputs[i], model->input_sizes[i]);
    }
    return error;
}

static enum ethosu_error submit(struct execution *execution)
{
    return ethosu_inference_create(&execution->network, &execution->weights, &execution->scratch,
                                   &execution->input_batch, &execution->output_batch, &execution->inference);
}

static enum ethosu_error wait(struct execution *execution)
{
    return ethosu_inference_wait(&execution->inference, execution->timeout_ms);
}

static size_t sram_used(const struct plan_model *model)
{
    return model->scratch_fast_size;
}

static enum ethosu_error clear_sram(struct execution *execution)
{
    ethosu_device_clear_sram(execution->device);
    return ETHOSU_OK;
}

static enum ethosu_error read_outputs(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    uint8_t *to = execution->outputs;

    for (size_t i = 0; i < model->output_count; i++) {
        size_t size = model->output_sizes[i];
        if (ethosu_buffer_read(&execution->output_batch, i, to, size) != size) {
            return ETHOSU_SHORT_READ;
        }
        to += pool_rounded(size);
    }
    return ETHOSU_OK;
}

static enum ethosu_error close_inference(struct execution *execution)
{
    return ethosu_inference_destroy(&execution->inference);
}

/* In the reverse order of creation. */
static enum ethosu_error release(struct execution *execution)
{
    ethosu_batch_destroy(&execution->output_batch);
    ethosu_batch_destroy(&execution->input_batch);
    ethosu_batch_destroy(&execution->scratch);
    ethosu_batch_destroy(&execution->weights);
    ethosu_network_destroy(&execution->network);
    return ETHOSU_OK;
}

static const struct step network_step = {"network", PHASE_CREATE, create_network, NULL};
static const struct step weights_step = {"weights", PHASE_CREATE, create_weights, weights_needed};
static const struct step scratch_step = {"scratch", PHASE_CREATE, create_scratch, scratch_needed};
static const struct step inputs_step = {"inputs", PHASE_CREATE, create_inputs, NULL};
static const struct step outputs_step = {"outputs", PHASE_CREATE, create_outputs, NULL};
static const struct step rewind_inputs_step = {"rewind_inputs", PHASE_WRITE_INPUTS, rewind_inputs, NULL};
static const struct step write_step = {"write_inputs", PHASE_WRITE_INPUTS, write_inputs, NULL};
static const struct step submit_step = {"submit", PHASE_SUBMIT, submit, NULL};
static const struct step wait_step = {"wait", PHASE_WAIT, wait, NULL};
static const struct step sram_step = {"sram_clear", PHASE_SRAM_CLEAR, clear_sram, sram_used};
static const struct step rewind_outputs_step = {"rewind_outputs", PHASE_READ_OUTPUTS, rewind_outputs, NULL};
static const struct step read_step = {"read_outputs", PHASE_READ_OUTPUTS, read_outputs, NULL};
static const struct step close_step = {"close", PHASE_RELEASE, close_inference, NULL};
static const struct step release_step = {"release", PHASE_RELEASE, release, NULL};

#define STEPS(...) ((const struct step *const[]){__VA_ARGS__, NULL})
#define NO_STEPS ((const struct step *const[]){NULL})

const struct lifetime lifetime_per_inference = {
    .name = "per-inference",
    .initialise = {NO_STEPS, NO_STEPS, NO_STEPS},
    .infer =
        {
            .steps = STEPS(&network_step, &weights_step, &scratch_step, &inputs_step, &write_step,
                           &outputs_step, &submit_step, &wait_step, &sram_step, &read_step),
            .on_failure = NO_STEPS,
            .at_end = STEPS(&close_step, &release_step),
        },
    .destroy = {NO_STEPS, NO_STEPS, NO_STEPS},
};

const struct lifetime lifetime_persistent = {
    .name = "persistent",
    .initialise =
        {
            .steps = STEPS(&network_step, &weights_step, &scratch_step, &inputs_step, &outputs_step),
            .on_failure = STEPS(&release_step),
            .at_end = NO_STEPS,
        },
    .infer =
        {
            .steps = STEPS(&rewind_inputs_step, &write_step, &submit_step, &wait_step, &sram_step,
                           &rewind_outputs_step, &read_step),
            .on_failure = NO_STEPS,
            .at_end = STEPS(&close_step),
        },
    .destroy = {NO_STEPS, NO_STEPS, STEPS(&release_step)},
};

/* Run a step, unless the model has no need of it. The first failure of a stage is the one that it reports. */
static void run_step(const struct step *step, struct execution *execution, struct outcome *outcome)
{
    if (step->needed != NULL && step->needed(execution->model) == 0) {
        return;
    }
    meter_enter(step->phase);
    enum ethosu_error error = step->run(execution);
    if (error != ETHOSU_OK && outcome->failed == NULL) {
        *outcome = (struct outcome){error, step};
    }
}

struct outcome lifetime_run_stage(const struct stage *stage, struct execution *execution)
{
    struct outcome outcome = {ETHOSU_OK, NULL};

    meter_open(PHASE_CREATE);
    for (const struct step *const *step = stage->steps; *step != NULL && outcome.failed == NULL; step++) {
        run_step(*step, execution, &outcome);
    }
    if (outcome.failed != NULL) {
        for (const struct step *const *step = stage->on_failure; *step != NULL; step++) {
            run_step(*step, execution, &outcome);
        }
    }
    for (const struct step *const *step = stage->at_end; *step != NULL; step++) {
        run_step(*step, execution, &outcome);
    }
    meter_close();
    return outcome;
}
