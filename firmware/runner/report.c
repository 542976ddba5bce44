#include "runner/report.h"

#include <stdbool.h>

#include "platform.h"
#include "platform/counters.h"
#include "platform/system.h"
#include "platform/uart.h"
#include "runner/record.h"

#define OUTSIDE SIZE_MAX

static size_t current_cell = OUTSIDE;
static size_t current_index = OUTSIDE;
static bool faulty; /* a fault has been reported */

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
    struct record record;

    current_cell = cell_index;
    record_begin(&record, "cell");
    record_decimal(&record, "cell", cell_index);
    record_decimal(&record, "model", cell->model_index);
    record_text(&record, "driver", cell->driver->name);
    record_text(&record, "io", cell->io);
    record_text(&record, "temp", cell->temp);
    record_send(&record);
}

void report_inside_inference(size_t index)
{
    current_index = index;
}

void report_outside_inferences(void)
{
    current_index = OUTSIDE;
}

static size_t index_or_0(void)
{
    return current_index == OUTSIDE ? 0 : current_index;
}

void report_infer(size_t input, struct outcome outcome, uint64_t npu_cycles)
{
    struct record record;

    record_begin(&record, "infer");
    record_decimal(&record, "cell", current_cell);
    record_decimal(&record, "index", current_index);
    record_decimal(&record, "input", input);
    record_text(&record, "status", status_name(outcome.error));
    record_decimal(&record, "npu_cycles", npu_cycles);
    record_decimal(&record, "ticks", meter_ticks(PHASE_SUBMIT) + meter_ticks(PHASE_WAIT));
    record_send(&record);
}

static void begin_stage(struct record *record, const char *type, const char *stage)
{
    record_begin(record, type);
    record_decimal(record, "cell", current_cell);
    record_text(record, "stage", stage);
    record_decimal(record, "index", index_or_0());
    record_common(record);
}

/* Add a number of many, most of which are 0: those are left out. */
static void add_unless_0(struct record *record, const char *key, uint64_t value)
{
    if (value != 0) {
        record_decimal(record, key, value);
    }
}

static void add_counts(struct record *record, const struct ethosu_counts *counts)
{
    add_unless_0(record, "networks", counts->networks);
    add_unless_0(record, "buffers", counts->buffers);
    add_unless_0(record, "inferences", counts->inferences);
    add_unless_0(record, "copied", counts->copied);
    add_unless_0(record, "zeroed", counts->zeroed);
    add_unless_0(record, "cleaned", counts->cleaned);
    add_unless_0(record, "invalidated", counts->invalidated);
}

void report_stage(const char *stage, const struct ethosu_counts *counts)
{
    static const char *const phase_names[PHASE_COUNT] = {
        [PHASE_CREATE] = "create",
        [PHASE_WRITE_INPUTS] = "write_inputs",
        [PHASE_SUBMIT] = "submit",
        [PHASE_WAIT] = "wait",
        [PHASE_READ_OUTPUTS] = "read_outputs",
        [PHASE_RELEASE] = "release",
        [PHASE_SRAM_CLEAR] = "sram_clear",
    };
    struct record record;

    begin_stage(&record, "phases", stage);
    for (unsigned phase = 0; phase < PHASE_COUNT; phase++) {
        add_unless_0(&record, phase_names[phase], meter_instructions((enum phase)phase));
    }
    record_decimal(&record, "total", meter_total());
    record_send(&record);

    begin_stage(&record, "counts", stage);
    add_counts(&record, counts);
    record_send(&record);
}

void report_outputs(const struct plan_model *model, const uint8_t *outputs)
{
    struct record record;

    for (size_t output = 0; output < model->output_count; output++) {
        size_t size = model->output_sizes[output];
        for (size_t offset = 0; offset < size;) {
            record_begin(&record, "data");
            record_decimal(&record, "cell", current_cell);
            record_decimal(&record, "index", current_index);
            record_decimal(&record, "output", output);
            record_decimal(&record, "offset", offset);
            offset += record_bytes(&record, "b64", outputs + offset, size - offset);
            record_send(&record);
        }
        outputs += pool_rounded(size);
    }
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

void report_calibration(const char *operation, size_t size, uint64_t instructions,
                        const struct ethosu_counts *counts)
{
    struct record record;

    record_begin(&record, "calibration");
    record_text(&record, "operation", operation);
    record_decimal(&record, "size", size);
    record_common(&record);
    record_decimal(&record, "instructions", instructions);
    add_counts(&record, counts);
    record_send(&record);
}

void report_end(const struct ethosu_device *device, struct outcome first_failure, size_t inferences)
{
    struct record record;

    record_begin(&record, "end");
    record_decimal(&record, "cell", current_cell);
    record_text(&record, "status", status_name(first_failure.error));
    record_decimal(&record, "inferences", inferences);
    record_decimal(&record, "live_objects",
                   device->live_networks + device->live_buffers + device->live_inferences);
    record_decimal(&record, "pool_used", device->pool.used);
    record_decimal(&record, "pool_peak", device->pool.peak);
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
    report_bye();
    halt();
}
