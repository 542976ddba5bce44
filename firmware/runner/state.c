/* Steps of models with variables: memory that an inference finds as the one before it has left it. */
#include "platform/bytes.h"
#include "runner/execution.h"
#include "runner/scratch_access.h"
#include "runner/steps.h"

enum ethosu_error step_write_state(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    const uint8_t *from = execution->state;
    enum ethosu_error error = ETHOSU_OK;

    for (size_t i = 0; i < model->variable_count && error == ETHOSU_OK; i++) {
        error = scratch_write(execution, model->variable_offsets[i], from, model->variable_sizes[i]);
        from += model->variable_sizes[i];
    }
    return error;
}

enum ethosu_error step_save_state(struct execution *execution)
{
    const struct plan_model *model = execution->model;
    uint8_t *to = plan.new_state;
    enum ethosu_error error = ETHOSU_OK;

    for (size_t i = 0; i < model->variable_count && error == ETHOSU_OK; i++) {
        error = scratch_read(execution, model->variable_offsets[i], to, model->variable_sizes[i]);
        to += model->variable_sizes[i];
    }
    if (error == ETHOSU_OK) { /* an inference that fails here leaves no half of a state */
        memcpy(execution->state, plan.new_state, model->state_size);
    }
    return error;
}
