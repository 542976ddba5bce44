#include "runner/lifetime.h"

#include "runner/execution.h"
#include "runner/steps.h"

/* Conditions of a step. */
enum {
    ALWAYS = 0,
    DRIVER_PER_INFERENCE = 1 << 0,
    DRIVER_PERSISTENT = 1 << 1,
    IO_PERSISTENT = 1 << 2,
    IO_MEMORY_KEPT = 1 << 3,
    SCRATCH_BUFFER = 1 << 4,
    SCRATCH_TEMPORARY = 1 << 5,
    HAS_WEIGHTS = 1 << 6,
    USES_SRAM = 1 << 7,
    IO_IN_BUFFERS = 1 << 8,
    IO_IN_SCRATCH = 1 << 9,
    STATE_STAYS = 1 << 10,
    STATE_WRITTEN = 1 << 11,
    STATE_SAVED = 1 << 12,
};

static const struct step initialise[] = {
    {"io_memory", PHASE_CREATE, step_create_io_memory, IO_MEMORY_KEPT | IO_IN_BUFFERS},
    {"io_memory", PHASE_CREATE, step_create_shared_scratch_memory, IO_MEMORY_KEPT | IO_IN_SCRATCH},
    {"map", PHASE_CREATE, step_map_io, IO_PERSISTENT},
    {"network", PHASE_CREATE, step_create_network, DRIVER_PERSISTENT},
    {"weights", PHASE_CREATE, step_create_weights, DRIVER_PERSISTENT | HAS_WEIGHTS},
    {"scratch", PHASE_CREATE, step_create_scratch, DRIVER_PERSISTENT | SCRATCH_BUFFER | IO_IN_BUFFERS},
    {"scratch", PHASE_CREATE, step_create_shared_scratch, DRIVER_PERSISTENT | SCRATCH_BUFFER | IO_IN_SCRATCH},
    {"write_state", PHASE_STATE, step_write_state, STATE_STAYS},
    {"inputs", PHASE_CREATE, step_create_inputs, DRIVER_PERSISTENT | IO_IN_BUFFERS},
    {"outputs", PHASE_CREATE, step_create_outputs, DRIVER_PERSISTENT | IO_IN_BUFFERS},
};

/* At destroy, and when initialisation has failed: only what exists is undone. */
static const struct step undo[] = {
    {"release", PHASE_RELEASE, step_destroy_objects, DRIVER_PERSISTENT},
    {"unmap", PHASE_RELEASE, step_unmap_io, IO_PERSISTENT},
    {"free_io_memory", PHASE_RELEASE, step_free_io_memory, IO_MEMORY_KEPT},
};

static const struct step infer[] = {
    {"network", PHASE_CREATE, step_create_network, DRIVER_PER_INFERENCE},
    {"weights", PHASE_CREATE, step_create_weights, DRIVER_PER_INFERENCE | HAS_WEIGHTS},
    {"scratch", PHASE_CREATE, step_create_scratch, DRIVER_PER_INFERENCE | SCRATCH_BUFFER | IO_IN_BUFFERS},
    {"scratch", PHASE_CREATE, step_create_shared_scratch, DRIVER_PER_INFERENCE | SCRATCH_BUFFER | IO_IN_SCRATCH},
    {"scratch", PHASE_CREATE, step_take_scratch, SCRATCH_TEMPORARY},
    {"write_state", PHASE_STATE, step_write_state, STATE_WRITTEN},
    {"inputs", PHASE_CREATE, step_create_inputs, DRIVER_PER_INFERENCE | IO_IN_BUFFERS},
    {"rewind_inputs", PHASE_WRITE_INPUTS, step_rewind_inputs, DRIVER_PERSISTENT | IO_IN_BUFFERS},
    {"write_inputs", PHASE_WRITE_INPUTS, step_write_inputs, IO_IN_BUFFERS},
    {"write_inputs", PHASE_WRITE_INPUTS, step_write_inputs_to_scratch, IO_IN_SCRATCH},
    {"outputs", PHASE_CREATE, step_create_outputs, DRIVER_PER_INFERENCE | IO_IN_BUFFERS},
    {"submit", PHASE_SUBMIT, step_submit, ALWAYS},
    {"wait", PHASE_WAIT, step_wait, ALWAYS},
    {"save_state", PHASE_STATE, step_save_state, STATE_SAVED},
    {"sram_clear", PHASE_SRAM_CLEAR, step_clear_sram, USES_SRAM},
    {"rewind_outputs", PHASE_READ_OUTPUTS, step_rewind_outputs, DRIVER_PERSISTENT | IO_IN_BUFFERS},
    {"read_outputs", PHASE_READ_OUTPUTS, step_read_outputs, IO_IN_BUFFERS},
    {"read_outputs", PHASE_READ_OUTPUTS, step_read_outputs_from_scratch, IO_IN_SCRATCH},
};

static const struct step infer_end[] = {
    {"close", PHASE_RELEASE, step_close_inference, ALWAYS},
    {"give_scratch_back", PHASE_RELEASE, step_give_scratch_back, SCRATCH_TEMPORARY},
    {"reset_temp", PHASE_RELEASE, step_reset_temp, ALWAYS},
    {"release", PHASE_RELEASE, step_destroy_objects, DRIVER_PER_INFERENCE},
};

#define CHOOSE(table, conditions, list) choose(table, sizeof table / sizeof table[0], conditions, list)
_Static_assert(sizeof infer / sizeof infer[0] <= LIFETIME_MAX_STEPS, "no table is longer than this one");

static void choose(const struct step *table, size_t count, unsigned conditions, const struct step **list)
{
    for (size_t i = 0; i < count; i++) {
        if ((table[i].when & ~conditions) == 0) {
            *list++ = &table[i];
        }
    }
    *list = NULL;
}

/* How long the memory of inputs and outputs lives. In temporary memory there is none to keep, or to map. */
static unsigned io_conditions_of(const struct plan_cell *cell, const struct plan_model *model)
{
    unsigned conditions = model->io_is_in_scratch ? IO_IN_SCRATCH : IO_IN_BUFFERS;
    bool persistent = cell->io == PLAN_PERSISTENT;

    if (model->io_is_in_scratch && plan.scratch_is_temporary) {
        return conditions;
    }
    conditions |= persistent ? IO_PERSISTENT : 0;
    conditions |= persistent || plan.io_is_shared ? IO_MEMORY_KEPT : 0;
    return conditions;
}

/*
 * What is done for variables. Those that are to be kept stay where they are in scratch memory that outlives
 * the inference; elsewhere they are saved after it, and put back before the next one.
 */
static unsigned state_conditions_of(const struct plan_cell *cell, const struct plan_model *model)
{
    if (model->variable_count == 0) {
        return 0;
    }
    if (!plan.keep_state) {
        return STATE_WRITTEN;
    }
    bool stays = cell->driver == PLAN_PERSISTENT && !plan.scratch_is_temporary;
    return stays ? STATE_STAYS : STATE_WRITTEN | STATE_SAVED;
}

static unsigned conditions_of(const struct plan_cell *cell, const struct plan_model *model)
{
    unsigned conditions = cell->driver == PLAN_PERSISTENT ? DRIVER_PERSISTENT : DRIVER_PER_INFERENCE;

    conditions |= io_conditions_of(cell, model);
    conditions |= state_conditions_of(cell, model);
    conditions |= model->weights_size != 0 ? HAS_WEIGHTS : 0;
    conditions |= model->scratch_fast_size != 0 ? USES_SRAM : 0;
    if (model->scratch_size != 0) {
        conditions |= plan.scratch_is_temporary ? SCRATCH_TEMPORARY : SCRATCH_BUFFER;
    }
    return conditions;
}

void lifetime_choose(const struct plan_cell *cell, const struct plan_model *model, struct lifetime *lifetime)
{
    unsigned conditions = conditions_of(cell, model);
    struct stage *stages = lifetime->stages;

    *lifetime = (struct lifetime){0};
    CHOOSE(initialise, conditions, stages[PLAN_INITIALISE].steps);
    CHOOSE(undo, conditions, stages[PLAN_INITIALISE].on_failure);
    CHOOSE(infer, conditions, stages[PLAN_INFER].steps);
    CHOOSE(infer_end, conditions, stages[PLAN_INFER].at_end);
    CHOOSE(undo, conditions, stages[PLAN_DESTROY].at_end);
}

static bool is_same_text(const char *left, const char *right)
{
    while (*left != '\0' && *left == *right) {
        left++;
        right++;
    }
    return *left == *right;
}

/* The failure that the plan wants in this run of a stage, or NULL. */
static const struct plan_failure *find_failure(enum plan_stage stage, const struct execution *execution)
{
    for (size_t i = 0; i < plan.failure_count; i++) {
        const struct plan_failure *failure = &plan.failures[i];
        if (failure->stage == stage && failure->slot == execution->slot
            && failure->occurrence == execution->stages_run[stage]) {
            return failure;
        }
    }
    return NULL;
}

/* Find the step that is to fail in the coming run of a stage, if there is one. */
static void choose_failing_step(enum plan_stage number, struct execution *execution)
{
    const struct plan_failure *failure = find_failure(number, execution);

    execution->failing_step = NULL;
    if (failure == NULL) {
        return;
    }
    for (const struct step *const *step = execution->lifetime.stages[number].steps; *step != NULL; step++) {
        if (is_same_text((*step)->name, failure->step)) {
            execution->failing_step = *step;
            execution->failing_call = failure->call;
        }
    }
}

/* Run the steps of a list; the first failure of a stage is the one that it reports. */
static void run_steps(const struct step *const *list, bool stops_at_failure, struct execution *execution,
                      struct outcome *outcome)
{
    struct ethosu_device *device = execution->device;

    for (const struct step *step = *list; step != NULL; step = *++list) {
        meter_enter(step->phase);
        device->origin.step = step->name;
        device->calls_until_failure = step == execution->failing_step ? execution->failing_call : 0;
        enum ethosu_error error = step->run(execution);
        if (error != ETHOSU_OK && outcome->failed == NULL) {
            *outcome = (struct outcome){error, step};
        }
        if (stops_at_failure && outcome->failed != NULL) {
            return;
        }
    }
}

struct outcome lifetime_run_stage(enum plan_stage number, struct execution *execution)
{
    const struct stage *stage = &execution->lifetime.stages[number];
    struct outcome outcome = {ETHOSU_OK, NULL};

    choose_failing_step(number, execution);
    execution->device->origin.owner = execution->slot;
    meter_open(PHASE_CREATE);
    run_steps(stage->steps, true, execution, &outcome);
    if (outcome.failed != NULL) {
        run_steps(stage->on_failure, false, execution, &outcome);
    }
    run_steps(stage->at_end, false, execution, &outcome);
    meter_close();
    execution->device->calls_until_failure = 0; /* the failing step may have made fewer calls */
    execution->stages_run[number]++;
    return outcome;
}
