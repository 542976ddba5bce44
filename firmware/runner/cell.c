#include "runner/cell.h"

#include "memory/heap.h"
#include "platform/bytes.h"
#include "platform/cache.h"
#include "runner/execution.h"
#include "runner/report.h"
#include "runner/steps.h"

#define POISON 0xa5 /* nothing that a sound inference leaves in an output */

extern uint8_t heap_start[], heap_end[];

/* What the models of a cell share. */
struct cell {
    const struct plan_cell *plan;
    struct ethosu_device *device;
    struct heap heap;
    struct temp temp;
};

static size_t pool_bytes(size_t size, enum ethosu_mapping kind)
{
    size_t alignment = kind == ETHOSU_MAPPED_ON_DEMAND ? ethosu_memory_rounded(1, kind) : cache_line_bytes();

    return ethosu_memory_rounded(size, kind) + alignment;
}

/* As much of the pool as the objects of a model will ever take at once. */
static size_t most_pool_bytes(const struct plan_model *model)
{
    size_t inputs = ethosu_batch_bytes(model->input_sizes, model->input_count);
    size_t outputs = ethosu_batch_bytes(model->output_sizes, model->output_count);

    size_t always = pool_bytes(model->command_stream_size, ETHOSU_ALWAYS_MAPPED)
                    + pool_bytes(model->weights_size, ETHOSU_ALWAYS_MAPPED);

    if (model->io_is_in_scratch) {
        return always + pool_bytes(model->scratch_size, ETHOSU_MAPPED_ON_DEMAND);
    }
    return always + pool_bytes(model->scratch_size, ETHOSU_ALWAYS_MAPPED)
           + pool_bytes(inputs, ETHOSU_MAPPED_ON_DEMAND) + pool_bytes(outputs, ETHOSU_MAPPED_ON_DEMAND);
}

/*
 * Use as much of the pool as the cell will, once, outside every window: memory that was never used is zeroed
 * when it is first handed out, and the first inference must not pay for that where the second does not.
 */
static void touch_pool(const struct cell *cell)
{
    struct ethosu_memory memory;
    size_t total = 0;

    for (size_t slot = 0; slot < cell->plan->slot_count; slot++) {
        total += most_pool_bytes(&plan.models[cell->plan->models[slot]]);
    }
    total = total < cell->device->pool.size ? total : cell->device->pool.size;
    if (ethosu_memory_create(cell->device, total, ETHOSU_ALWAYS_MAPPED, &memory) == ETHOSU_OK) {
        ethosu_memory_destroy(&memory);
    } /* a pool that is too small is reported by the step that it fails */
}

/* Run a stage, and keep the slot's first failure. */
static struct outcome run_stage(struct cell *cell, enum plan_stage stage, struct execution *execution,
                                struct cost *cost)
{
    cost_begin(cell->device, &cell->heap, &cell->temp);
    struct outcome outcome = lifetime_run_stage(stage, execution);

    *cost = cost_of(cell->device, &cell->heap, &cell->temp);
    if (execution->first_failure.failed == NULL) {
        execution->first_failure = outcome;
    }
    return outcome;
}

static void report_outcome(struct execution *execution, struct outcome outcome)
{
    if (outcome.failed != NULL) {
        report_failure(execution, outcome);
    }
    report_places(execution);
}

/* Run a stage outside of inferences, and report it. */
static struct outcome run_and_report(struct cell *cell, enum plan_stage stage, struct execution *execution)
{
    struct cost cost;
    struct outcome outcome = run_stage(cell, stage, execution, &cost);

    report_outcome(execution, outcome);
    report_cost(stage, &cost);
    return outcome;
}

/* Make `execution` the model of a slot, initialised; there is room for its input sets and its variables. */
static void load(struct cell *cell, size_t slot, struct plan_reported *reported, uint8_t *state,
                 struct execution *execution)
{
    const struct plan_model *model = &plan.models[cell->plan->models[slot]];

    *execution = (struct execution){
        .device = cell->device,
        .slot = slot,
        .model = model,
        .io_is_persistent = cell->plan->io == PLAN_PERSISTENT,
        .temp = &cell->temp,
        .outputs = plan.outputs,
        .timeout_ms = plan.inference_timeout_ms,
        .reported = reported,
        .state = state,
    };
    if (model->state_size != 0) {
        memcpy(state, model->initial_state, model->state_size);
    }
    for (size_t i = 0; i < model->input_set_count; i++) {
        reported[i].is_known = false;
    }
    lifetime_choose(cell->plan, model, &execution->lifetime);
    report_slot(execution);
    execution->is_initialised = run_and_report(cell, PLAN_INITIALISE, execution).failed == NULL;
}

/* Fill a scratch buffer, but for the state that stays in it. */
static void poison_scratch(struct execution *execution)
{
    bool has_state = plan.keep_state && execution->model->variable_count != 0;

    /* No failure is injected here, and memory that could be mapped for an inference can be mapped again. */
    if (has_state) {
        (void)step_save_state(execution);
    }
    ethosu_batch_fill(&execution->scratch, POISON);
    if (has_state) {
        (void)step_write_state(execution);
    }
}

/* Overwrite the outputs, so that an inference that does not write them is seen. */
static void poison_outputs(struct execution *execution)
{
    const struct plan_model *model = execution->model;

    memset(execution->outputs, POISON, ethosu_batch_bytes(model->output_sizes, model->output_count));
    if (model->io_is_in_scratch && execution->scratch.device != NULL) {
        poison_scratch(execution);
    } else if (execution->output_batch.device != NULL) {
        ethosu_batch_fill(&execution->output_batch, POISON);
    }
}

static void run_job(struct cell *cell, size_t index)
{
    const struct plan_job *job = &cell->plan->jobs[index];
    struct execution *execution = &plan.slots[job->slot];

    if (!execution->is_initialised) {
        return; /* the slot's end says that it ran fewer inferences */
    }
    report_slot(execution);
    report_inside_inference(index);
    execution->inputs = execution->model->input_sets + job->input * execution->model->input_count;
    execution->inference.cycles = 0;
    if (plan.poison) {
        poison_outputs(execution);
    }
    struct cost cost;
    struct outcome outcome = run_stage(cell, PLAN_INFER, execution, &cost);
    bool is_cost_same = cost_is_same(&cost, &execution->last_cost);
    report_infer(job->input, outcome, execution->inference.cycles, is_cost_same);
    report_outcome(execution, outcome);
    if (!is_cost_same) {
        report_cost(PLAN_INFER, &cost);
        execution->last_cost = cost;
    }
    if (outcome.failed == NULL) {
        report_outputs(execution->model, execution->outputs, &execution->reported[job->input]);
    }
    report_outside_inferences();
}

static void unload(struct cell *cell, struct execution *execution)
{
    report_slot(execution);
    (void)run_and_report(cell, PLAN_DESTROY, execution);
    report_slot_end(execution);
}

static void run_slots(struct cell *cell)
{
    struct plan_reported *reported = plan.reported;
    uint8_t *state = plan.states;

    for (size_t slot = 0; slot < cell->plan->slot_count; slot++) {
        load(cell, slot, reported, state, &plan.slots[slot]);
        reported += plan.slots[slot].model->input_set_count;
        state += plan.slots[slot].model->state_size;
    }
    for (size_t index = 0; index < cell->plan->job_count; index++) {
        run_job(cell, index);
    }
    for (size_t slot = cell->plan->slot_count; slot > 0; slot--) {
        unload(cell, &plan.slots[slot - 1]);
    }
}

static void run_cell(struct ethosu_device *device, size_t index)
{
    struct cell cell = {.plan = &plan.cells[index], .device = device};

    heap_initialise(&cell.heap, heap_start, (size_t)(heap_end - heap_start));
    temp_initialise(&cell.temp, cell.plan->temp, &cell.heap, plan.temp_limit);
    report_cell(index, cell.plan);
    touch_pool(&cell);
    run_slots(&cell);
    temp_destroy(&cell.temp);
    report_end(device, &cell.heap);
    if (device->ledger.live != 0 || device->pool.used != 0) {
        ethosu_device_forget_objects(device); /* what one cell has left is no matter of the next one's */
    }
}

void run_cells(struct ethosu_device *device)
{
    for (size_t i = 0; i < plan.cell_count; i++) {
        run_cell(device, i);
    }
}
