#include "runner/cell.h"

#include "platform/cache.h"
#include "runner/lifetime.h"
#include "runner/plan.h"
#include "runner/report.h"

static size_t batch_bytes(const size_t *sizes, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        total += pool_rounded(sizes[i]);
    }
    return total;
}

/*
 * Use as much of the pool as the model's objects will, once, outside every window: memory that was never used
 * is zeroed when it is first handed out, and the first inference must not pay for that where the second does
 * not.
 */
static void touch_pool(struct ethosu_device *device, const struct plan_model *model)
{
    struct ethosu_memory memory;
    size_t blocks[] = {
        model->command_stream_size,
        model->weights_size,
        model->scratch_size,
        batch_bytes(model->input_sizes, model->input_count),
        batch_bytes(model->output_sizes, model->output_count),
    };
    size_t total = 0;

    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        total += pool_rounded(blocks[i]) + cache_line_bytes();
    }
    if (ethosu_memory_create(device, total, &memory) == ETHOSU_OK) {
        ethosu_memory_destroy(device, &memory);
    } /* a pool that is too small is reported by the step that it fails */
    pool_reset_peak(&device->pool);
}

/* Run a stage, and keep the cell's first failure. */
static struct outcome run_stage(const struct stage *stage, struct execution *execution,
                                struct outcome *first_failure)
{
    execution->device->counts = (struct ethosu_counts){0};
    struct outcome outcome = lifetime_run_stage(stage, execution);

    if (first_failure->failed == NULL) {
        *first_failure = outcome;
    }
    return outcome;
}

static void report_outcome(const char *stage, const struct execution *execution, struct outcome outcome)
{
    if (outcome.failed != NULL) {
        report_failure(execution, outcome);
    }
    report_stage(stage, &execution->device->counts);
}

static void run_inference(const struct plan_cell *cell, size_t index, struct execution *execution,
                          struct outcome *first_failure)
{
    const struct plan_model *model = cell->model;
    size_t input = cell->sequence[index];

    report_inside_inference(index);
    execution->inputs = model->input_sets + input * model->input_count;
    execution->inference.cycles = 0;
    struct outcome outcome = run_stage(&cell->driver->infer, execution, first_failure);
    report_infer(input, outcome, execution->inference.cycles);
    report_outcome("infer", execution, outcome);
    if (outcome.failed == NULL) {
        report_outputs(model, execution->outputs);
    }
    report_outside_inferences();
}

static void run_cell(struct ethosu_device *device, size_t cell_index)
{
    const struct plan_cell *cell = &plan.cells[cell_index];
    struct execution execution = {
        .device = device,
        .model = cell->model,
        .outputs = plan.outputs,
        .timeout_ms = plan.inference_timeout_ms,
    };
    struct outcome first_failure = {ETHOSU_OK, NULL};
    size_t inferences = 0;

    report_cell(cell_index, cell);
    touch_pool(device, cell->model);
    struct outcome initialised = run_stage(&cell->driver->initialise, &execution, &first_failure);
    report_outcome("init", &execution, initialised);
    if (initialised.failed == NULL) {
        for (; inferences < cell->sequence_length; inferences++) {
            run_inference(cell, inferences, &execution, &first_failure);
        }
    }
    struct outcome destroyed = run_stage(&cell->driver->destroy, &execution, &first_failure);
    report_outcome("destroy", &execution, destroyed);
    report_end(device, first_failure, inferences);
}

void run_cells(struct ethosu_device *device)
{
    for (size_t i = 0; i < plan.cell_count; i++) {
        run_cell(device, i);
    }
}
