#include "runner/report.h"

#include <stdbool.h>

#include "platform.h"
#include "platform/counters.h"
#include "platform/system.h"
#include "platform/uart.h"
#include "runner/record.h"

#define OUTSIDE SIZE_MAX

static size_t current_cell = OUTSIDE;
static size_t current_slot = OUTSIDE;
static size_t current_index = OUTSIDE;
static const struct places *current_places; /* of the current slot; NULL outside one */
static bool faulty;                         /* a fault has been reported */

static const char *status_name(enum ethosu_error error)
{
    switch (error) {
    case ETHOSU_OK:
        return "ok";
    case ETHOSU_NPU_FAULT:
        return "npu-fault";
    case ETHOSU_TIMED_OUT:
        return "timeout";
    case ETHOSU_WRONG_CONFIG:
        return "refused";
    default:
        return "driver-error";
    }
}

static void place(struct record *record, const char *key, size_t value)
{
    if (value == OUTSIDE) {
        record_text(record, key, "-");
    } else {
        record_decimal(record, key, value);
    }
}

static void begin_fault(struct record *record, const char *kind)
{
    faulty = true;
    record_begin(record, "fault");
    place(record, "cell", current_cell);
    place(record, "slot", current_slot);
    place(record, "index", current_index);
    record_text(record, "kind", kind);
    record_common(record);
}

void report_hello(const struct ethosu_device *device)
{
    struct record record;

    record_begin(&record, "hello");
    record_text(&record, "nonce", identity_nonce);
    record_text(&record, "build", identity_build);
    record_hex(&record, "npu_id", device->id);
    record_hex(&record, "npu_config", device->config);
    record_decimal(&record, "cells", plan.cell_count);
    record_send(&record);
}

void report_clock(void)
{
    struct record record;

    record_begin(&record, "clock");
    record_decimal(&record, "window", meter_window());
    record_decimal(&record, "timer_hz", counters_ticks_per_second());
    record_send(&record);
}

void report_cell(size_t cell_index, const struct plan_cell *cell)
{
    static const char *const lifetime_names[] = {
        [PLAN_PER_INFERENCE] = "per-inference",
        [PLAN_PERSISTENT] = "persistent",
    };
    static const char *const temp_names[] = {[TEMP_MALLOC] = "malloc", [TEMP_CACHING] = "caching"};
    struct record record;

    current_cell = cell_index;
    record_begin(&record, "cell");
    record_decimal(&record, "cell", cell_index);
    record_decimal(&record, "slots", cell->slot_count);
    record_text(&record, "driver", lifetime_names[cell->driver]);
    record_text(&record, "io", lifetime_names[cell->io]);
    record_text(&record, "temp", temp_names[cell->temp]);
    record_send(&record);
}

void report_slot(const struct execution *execution)
{
    current_slot = execution->slot;
    current_places = &execution->places;
}

void report_inside_inference(size_t index)
{
    current_index = index;
}

void report_outside_inferences(void)
{
    current_index = OUTSIDE;
}

void report_infer(size_t input, struct outcome outcome, uint64_t npu_cycles, bool is_cost_same)
{
    struct record record;

    record_begin(&record, "infer");
    record_decimal(&record, "cell", current_cell);
    record_decimal(&record, "slot", current_slot);
    record_decimal(&record, "index", current_index);
    record_decimal(&record, "input", input);
    record_text(&record, "status", status_name(outcome.error));
    record_decimal(&record, "npu_cycles", npu_cycles);
    record_decimal(&record, "ticks", meter_ticks(PHASE_SUBMIT) + meter_ticks(PHASE_WAIT));
    record_text(&record, "cost", is_cost_same ? "same" : "own");
    record_send(&record);
}

/* Add the numbers that belong into this record. Most are 0: those are left out. */
static void add_numbers(struct record *record, const struct cost *cost, enum cost_record which)
{
    for (size_t i = 0; i < COST_NUMBERS; i++) {
        if (cost_names[i].record == which && cost->numbers[i] != 0) {
            record_decimal(record, cost_names[i].key, cost->numbers[i]);
        }
    }
}

void report_cost(enum plan_stage stage, const struct cost *cost)
{
    static const char *const stage_names[] = {
        [PLAN_INITIALISE] = "init",
        [PLAN_INFER] = "infer",
        [PLAN_DESTROY] = "destroy",
    };
    static const char *const types[COST_RECORDS] = {
        [COST_PHASES] = "phases",
        [COST_COUNTS] = "counts",
        [COST_MEMORY] = "memory",
    };
    struct record record;

    for (unsigned which = 0; which < COST_RECORDS; which++) {
        record_begin(&record, types[which]);
        record_decimal(&record, "cell", current_cell);
        record_decimal(&record, "slot", current_slot);
        record_text(&record, "stage", stage_names[stage]);
        record_decimal(&record, "index", current_index == OUTSIDE ? 0 : current_index);
        record_common(&record);
        add_numbers(&record, cost, (enum cost_record)which);
        if (which == COST_PHASES) {
            record_decimal(&record, "total", meter_total());
        }
        record_send(&record);
    }
}

static void send_places(const struct places *places)
{
    struct record record;

    record_begin(&record, "places");
    place(&record, "cell", current_cell);
    place(&record, "slot", current_slot);
    place(&record, "index", current_index);
    record_common(&record);
    record_hex(&record, "stream", places->stream);
    record_hex(&record, "weights", places->weights);
    record_hex(&record, "scratch", places->scratch);
    record_hex(&record, "inputs", places->inputs);
    record_hex(&record, "outputs", places->outputs);
    record_send(&record);
}

static bool are_same_places(const struct places *left, const struct places *right)
{
    return left->stream == right->stream && left->weights == right->weights && left->scratch == right->scratch
           && left->inputs == right->inputs && left->outputs == right->outputs;
}

void report_places(struct execution *execution)
{
    if (!are_same_places(&execution->places, &execution->reported_places)) {
        send_places(&execution->places);
        execution->reported_places = execution->places;
    }
}

/* Send a tensor's bytes, as many lines as it takes. */
static void send_data(size_t output, const uint8_t *bytes, size_t size)
{
    struct record record;

    for (size_t offset = 0; offset < size;) {
        record_begin(&record, "data");
        record_decimal(&record, "cell", current_cell);
        record_decimal(&record, "index", current_index);
        record_decimal(&record, "output", output);
        record_decimal(&record, "offset", offset);
        offset += record_bytes(&record, "b64", bytes + offset, size - offset);
        record_send(&record);
    }
}

static struct sha256 digest_of(const struct plan_model *model, const uint8_t *outputs)
{
    struct sha256_state state;

    sha256_begin(&state);
    for (size_t output = 0; output < model->output_count; output++) {
        sha256_add(&state, outputs, model->output_sizes[output]);
        outputs += pool_rounded(model->output_sizes[output]);
    }
    return sha256_finish(&state);
}

static bool is_same_digest(const struct sha256 *left, const struct sha256 *right)
{
    uint32_t difference = 0;

    for (unsigned i = 0; i < SHA256_WORDS; i++) {
        difference |= left->words[i] ^ right->words[i];
    }
    return difference == 0;
}

static void send_digest(const struct sha256 *digest)
{
    uint8_t bytes[4 * SHA256_WORDS];
    struct record record;

    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(digest->words[i / 4] >> (24 - 8 * (i % 4)));
    }
    record_begin(&record, "digest");
    record_decimal(&record, "cell", current_cell);
    record_decimal(&record, "index", current_index);
    (void)record_bytes(&record, "b64", bytes, sizeof bytes); /* a line has room for all of them */
    record_send(&record);
}

void report_outputs(const struct plan_model *model, const uint8_t *outputs, struct plan_reported *reported)
{
    struct sha256 digest = digest_of(model, outputs);

    send_digest(&digest);
    if (reported->is_known && is_same_digest(&reported->digest, &digest)) {
        return;
    }
    for (size_t output = 0; output < model->output_count; output++) {
        send_data(output, outputs, model->output_sizes[output]);
        outputs += pool_rounded(model->output_sizes[output]);
    }
    *reported = (struct plan_reported){true, digest};
}

void report_failure(const struct execution *execution, struct outcome outcome)
{
    const struct ethosu_device *device = execution->device;
    struct record record;

    switch (outcome.error) {
    case ETHOSU_NPU_FAULT:
        begin_fault(&record, "npu");
        record_hex(&record, "status", device->fault_status);
        record_hex(&record, "qread", device->fault_qread);
        break;
    case ETHOSU_TIMED_OUT:
        begin_fault(&record, "timeout");
        record_decimal(&record, "ms", execution->timeout_ms);
        record_hex(&record, "status", device->fault_status);
        record_hex(&record, "qread", device->fault_qread);
        break;
    case ETHOSU_MISALIGNED:
        begin_fault(&record, "misaligned");
        record_text(&record, "what", device->misaligned);
        record_hex(&record, "address", device->misaligned_address);
        break;
    case ETHOSU_WRONG_CONFIG:
        begin_fault(&record, "refused");
        record_hex(&record, "want", execution->network.config);
        record_hex(&record, "have", device->config);
        break;
    default:
        report_driver_fault(ethosu_error_name(outcome.error), outcome.failed->name);
        return;
    }
    record_send(&record);
}

void report_driver_fault(const char *error, const char *where)
{
    struct record record;

    begin_fault(&record, "driver");
    record_text(&record, "error", error);
    record_text(&record, "where", where);
    record_send(&record);
}

void report_calibration(const char *operation, size_t size, uint64_t instructions, const struct cost *cost)
{
    struct record record;

    record_begin(&record, "calibration");
    record_text(&record, "operation", operation);
    record_decimal(&record, "size", size);
    record_common(&record);
    record_decimal(&record, "instructions", instructions);
    add_numbers(&record, cost, COST_COUNTS);
    record_send(&record);
}

void report_slot_end(const struct execution *execution)
{
    struct record record;

    record_begin(&record, "slot");
    record_decimal(&record, "cell", current_cell);
    record_decimal(&record, "slot", current_slot);
    record_decimal(&record, "model", (size_t)(execution->model - plan.models));
    record_text(&record, "status", status_name(execution->first_failure.error));
    record_decimal(&record, "inferences", execution->stages_run[PLAN_INFER]);
    record_send(&record);
    current_slot = OUTSIDE;
    current_places = NULL;
}

static void report_leaks(const struct ethosu_ledger *ledger)
{
    struct record record;

    for (size_t i = 0; i < ETHOSU_MAX_OBJECTS; i++) {
        const struct ethosu_entry *entry = &ledger->entries[i];
        if (entry->kind == NULL) {
            continue;
        }
        record_begin(&record, "leak");
        record_decimal(&record, "cell", current_cell);
        record_decimal(&record, "slot", entry->origin.owner);
        record_text(&record, "kind", entry->kind);
        record_decimal(&record, "size", entry->size);
        record_text(&record, "step", entry->origin.step);
        record_send(&record);
    }
}

void report_end(const struct ethosu_device *device, const struct heap *heap)
{
    struct record record;

    report_leaks(&device->ledger);
    record_begin(&record, "end");
    record_decimal(&record, "cell", current_cell);
    record_decimal(&record, "live_objects", device->ledger.live);
    record_decimal(&record, "pool_used", device->pool.used);
    record_decimal(&record, "heap_used", heap->used);
    record_send(&record);
    current_cell = OUTSIDE;
}

void report_bye(void)
{
    static const char end_of_transmission = 4;
    struct record record;

    record_begin(&record, "bye");
    record_text(&record, "status", faulty ? "fault" : "ok");
    record_send(&record);
    uart_write(&end_of_transmission, 1);
    uart_flush();
}

_Noreturn void exception_report(const struct exception *exception)
{
    static const char line_end[2] = {'\r', '\n'};
    struct record record;

    uart_initialise(UART_BASE);            /* the exception may have come before main() */
    uart_write(line_end, sizeof line_end); /* or have cut a line short */
    begin_fault(&record, "exception");
    record_decimal(&record, "vector", exception->vector);
    record_decimal(&record, "el", exception->from_level);
    record_hex(&record, "esr", exception->esr);
    record_hex(&record, "elr", exception->elr);
    record_hex(&record, "far", exception->far);
    record_hex(&record, "spsr", exception->spsr);
    record_send(&record);
    if (current_places != NULL) {
        send_places(current_places); /* what FAR may be an address of */
    }
    report_bye();
    halt();
}
