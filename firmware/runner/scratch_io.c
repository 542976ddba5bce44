/* Steps of models whose inputs and outputs lie in scratch memory, as those of ExecuTorch do. */
#include "runner/execution.h"
#include "runner/scratch_access.h"
#include "runner/staging.h"
#include "runner/steps.h"

enum ethosu_error step_create_shared_scratch_memory(struct execution *execution)
{
    return ethosu_memory_create(execution->device, execution->model->scratch_size, ETHOSU_MAPPED_ON_DEMAND,
                                &execution->input_memory);
}

enum ethosu_error step_create_shared_scratch(struct execution *execution)
{
    const size_t *size = &execution->model->scratch_size;
    enum ethosu_error error;

    if (execution->input_memory.device != NULL) {
        error = ethosu_batch_create_in(&execution->input_memory, 0, size, 1, &execution->scratch);
    } else {
        error = ethosu_batch_create(execution->device, size, 1, ETHOSU_MAPPED_ON_DEMAND, &execution->scratch);
    }
    execution->places.scratch = ethosu_batch_address(&execution->scratch);
    return error;
}

static enum ethosu_error write_input(struct execution *execution, size_t index)
{
    size_t offset = execution->model->input_offsets[index];
    size_t size = execution->model->input_sizes[index];
    enum ethosu_error error;
    void *staging = staging_take(execution, size, &error);

    if (error != ETHOSU_OK) {
        return error;
    }
    staging_copy(execution, staging, execution->inputs[index], size);
    return scratch_write(execution, offset, staging, size);
}

enum ethosu_error step_write_inputs_to_scratch(struct execution *execution)
{
    enum ethosu_error error = ETHOSU_OK;

    for (size_t i = 0; i < execution->model->input_count && error == ETHOSU_OK; i++) {
        error = write_input(execution, i);
    }
    return error;
}

static enum ethosu_error read_output(struct execution *execution, size_t index, uint8_t *to)
{
    size_t offset = execution->model->output_offsets[index];
    size_t size = execution->model->output_sizes[index];
    enum ethosu_error error;
    void *staging = staging_take(execution, size, &error);

    if (error != ETHOSU_OK) {
        return error;
    }
    error = scratch_read(execution, offset, staging, size);
    if (error == ETHOSU_OK) {
        staging_copy(execution, to, staging, size);
    }
    return error;
}

enum ethosu_error step_read_outputs_from_scratch(struct execution *execution)
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
