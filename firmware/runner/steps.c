#include "runner/steps.h"

#include "platform/cache.h"
#include "runner/execution.h"
#include "runner/staging.h"

/* ---- memory of inputs and outputs ---- */

/* Whether inputs and outputs lie in one memory, when it outlives their buffers. */
static bool has_one_io_memory(const struct execution *execution)
{
    return plan.io_is_shared || execution->model->io_is_in_scratch;
}

/* The memory that the outputs lie in, and where in it, when it outlives their buffers. */
static struct ethosu_memory *kept_output_memory(struct execution *execution)
{
    return has_one_io_memory(execution) ? &execution->input_memory : &execution->output_memory;
}

static size_t kept_output_start(const struct execution *execution)
{
    const struct plan_model *model = execution->model;

    return plan.io_is_shared ? ethosu_batch_bytes(model->input_sizes, model->input_count) : 0;
}

enum ethosu_error step_create_io_memory(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    size_t inputs = ethosu_batch_bytes(model->input_sizes, model->input_count);
    size_t outputs = ethosu_batch_bytes(model->output_sizes, model->output_count);

    if (plan.io_is_shared) {
        return ethosu_memory_create(execution->device, inputs + outputs, ETHOSU_MAPPED_ON_DEMAND,
                                    &execution->input_memory);
    }
    enum ethosu_error error = ethosu_memory_create(execution->device, inputs, ETHOSU_MAPPED_ON_DEMAND,
                                                   &execution->input_memory);
    if (error == ETHOSU_OK) {
        error = ethosu_memory_create(execution->device, outputs, ETHOSU_MAPPED_ON_DEMAND,
                                     &execution->output_memory);
    }
    return error;
}

enum ethosu_error step_free_io_memory(struct execution *execution)
{
    ethosu_memory_destroy(&execution->output_memory);
    ethosu_memory_destroy(&execution->input_memory);
    return ETHOSU_OK;
}

enum ethosu_error step_map_io(struct execution *execution)
{
    struct ethosu_memory *inputs = &execution->input_memory;
    struct ethosu_memory *outputs = kept_output_memory(execution);
    enum ethosu_error error = ethosu_memory_map(inputs);

    if (error == ETHOSU_OK && outputs != inputs) {
        error = ethosu_memory_map(outputs);
        if (error != ETHOSU_OK) {
            (void)ethosu_memory_unmap(inputs); /* it is mapped: the first error is the one to report */
        }
    }
    return error;
}

enum ethosu_error step_unmap_io(struct execution *execution)
{
    struct ethosu_memory *inputs = &execution->input_memory;
    struct ethosu_memory *outputs = kept_output_memory(execution);
    enum ethosu_error error = ETHOSU_OK;

    if (outputs != inputs && outputs->mapped != NULL) {
        error = ethosu_memory_unmap(outputs);
    }
    if (inputs->mapped != NULL) {
        enum ethosu_error second = ethosu_memory_unmap(inputs);
        error = error == ETHOSU_OK ? second : error;
    }
    return error;
}

/* ---- objects of the driver ---- */

enum ethosu_error step_create_network(struct execution *execution)
{
    enum ethosu_error error =
        ethosu_network_create(execution->device, execution->model->command_stream,
                              execution->model->command_stream_size, &execution->network);

    execution->places.stream = execution->network.stream;
    return error;
}

enum ethosu_error step_create_weights(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    enum ethosu_error error = ethosu_batch_create(execution->device, &model->weights_size, 1,
                                                  ETHOSU_ALWAYS_MAPPED, &execution->weights);

    if (error == ETHOSU_OK) {
        error = ethosu_buffer_write(&execution->weights, 0, model->weights, model->weights_size);
        execution->places.weights = ethosu_batch_address(&execution->weights);
    }
    return error;
}

enum ethosu_error step_create_scratch(struct execution *execution)
{
    enum ethosu_error error = ethosu_batch_create(execution->device, &execution->model->scratch_size, 1,
                                                  ETHOSU_ALWAYS_MAPPED, &execution->scratch);

    execution->places.scratch = ethosu_batch_address(&execution->scratch);
    return error;
}

enum ethosu_error step_create_inputs(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    enum ethosu_error error;

    if (execution->input_memory.device != NULL) {
        error = ethosu_batch_create_in(&execution->input_memory, 0, model->input_buffer_sizes,
                                       model->input_count, &execution->input_batch);
    } else {
        error = ethosu_batch_create(execution->device, model->input_buffer_sizes, model->input_count,
                                    ETHOSU_MAPPED_ON_DEMAND, &execution->input_batch);
    }
    execution->places.inputs = ethosu_batch_address(&execution->input_batch);
    return error;
}

enum ethosu_error step_create_outputs(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    struct ethosu_memory *kept = kept_output_memory(execution);
    enum ethosu_error error;

    if (kept->device != NULL) {
        error = ethosu_batch_create_in(kept, kept_output_start(execution), model->output_buffer_sizes,
                                       model->output_count, &execution->output_batch);
    } else {
        error = ethosu_batch_create(execution->device, model->output_buffer_sizes, model->output_count,
                                    ETHOSU_MAPPED_ON_DEMAND, &execution->output_batch);
    }
    execution->places.outputs = ethosu_batch_address(&execution->output_batch);
    return error;
}

enum ethosu_error step_destroy_objects(struct execution *execution)
{
    ethosu_batch_destroy(&execution->output_batch);
    ethosu_batch_destroy(&execution->input_batch);
    ethosu_batch_destroy(&execution->scratch);
    ethosu_batch_destroy(&execution->weights);
    ethosu_network_destroy(&execution->network);
    return ETHOSU_OK;
}

/* ---- temporary memory ---- */

enum ethosu_error step_take_scratch(struct execution *execution)
{
    size_t size = execution->model->scratch_size;
    enum ethosu_error error;
    void *taken = staging_take(execution, size, &error);

    if (error == ETHOSU_OK) {
        /* What the CPU wrote there as something else must not be written back while the NPU uses it. */
        execution->device->counts.cleaned += cache_clean_invalidate(taken, size);
    }
    execution->temporary_scratch = (uintptr_t)taken;
    execution->places.scratch = (uintptr_t)taken;
    return error;
}

enum ethosu_error step_give_scratch_back(struct execution *execution)
{
    if (execution->temporary_scratch != 0) {
        void *taken = (void *)execution->temporary_scratch;
        execution->device->counts.invalidated += cache_invalidate(taken, execution->model->scratch_size);
        execution->temporary_scratch = 0;
    }
    return ETHOSU_OK;
}

enum ethosu_error step_reset_temp(struct execution *execution)
{
    temp_reset(execution->temp);
    return ETHOSU_OK;
}

/* ---- one inference ---- */

enum ethosu_error step_rewind_inputs(struct execution *execution)
{
    ethosu_batch_rewind(&execution->input_batch);
    return ETHOSU_OK;
}

enum ethosu_error step_rewind_outputs(struct execution *execution)
{
    ethosu_batch_rewind(&execution->output_batch);
    return ETHOSU_OK;
}

static enum ethosu_error write_input(struct execution *execution, size_t index)
{
    struct ethosu_batch *batch = &execution->input_batch;
    size_t size = execution->model->input_sizes[index];
    enum ethosu_error error;
    void *staging = staging_take(execution, size, &error);

    if (error != ETHOSU_OK) {
        return error;
    }
    staging_copy(execution, staging, execution->inputs[index], size);
    error = staging_begin_access(execution, batch);
    if (error != ETHOSU_OK) {
        return error;
    }
    error = ethosu_buffer_write(batch, execution->model->input_buffers[index], staging, size);
    enum ethosu_error end = staging_end_access(execution, batch);
    return error == ETHOSU_OK ? end : error;
}

enum ethosu_error step_write_inputs(struct execution *execution)
{
    enum ethosu_error error = ETHOSU_OK;

    for (size_t i = 0; i < execution->model->input_count && error == ETHOSU_OK; i++) {
        error = write_input(execution, i);
    }
    return error;
}

enum ethosu_error step_submit(struct execution *execution)
{
    uintptr_t scratch = execution->temporary_scratch != 0 ? execution->temporary_scratch
                                                          : ethosu_batch_address(&execution->scratch);

    return ethosu_inference_create(&execution->network, &execution->weights, scratch,
                                   &execution->input_batch, &execution->output_batch, &execution->inference);
}

enum ethosu_error step_wait(struct execution *execution)
{
    return ethosu_inference_wait(&execution->inference, execution->timeout_ms);
}

enum ethosu_error step_clear_sram(struct execution *execution)
{
    ethosu_device_clear_sram(execution->device);
    return ETHOSU_OK;
}

static enum ethosu_error read_output(struct execution *execution, size_t index, uint8_t *to)
{
    struct ethosu_batch *batch = &execution->output_batch;
    size_t size = execution->model->output_sizes[index];
    size_t buffer = execution->model->output_buffers[index];
    enum ethosu_error error;
    void *staging = staging_take(execution, size, &error);

    if (error != ETHOSU_OK) {
        return error;
    }
    error = staging_begin_access(execution, batch);
    if (error != ETHOSU_OK) {
        return error;
    }
    error = ethosu_buffer_read(batch, buffer, staging, size) == size ? ETHOSU_OK : ETHOSU_SHORT_READ;
    enum ethosu_error end = staging_end_access(execution, batch);
    if (error == ETHOSU_OK) {
        staging_copy(execution, to, staging, size);
        error = end;
    }
    return error;
}

enum ethosu_error step_read_outputs(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    uint8_t *to = execution->outputs;
    enum ethosu_error error = ETHOSU_OK;

    for (size_t i = 0; i < model->output_count && error == ETHOSU_OK; i++) {
        error = read_output(execution, i, to);
        to += pool_rounded(model->output_sizes[i]);
    }
    return error;
}

enum ethosu_error step_close_inference(struct execution *execution)
{
    return ethosu_inference_destroy(&execution->inference);
}
