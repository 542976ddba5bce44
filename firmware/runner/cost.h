/*
 * The cost of a stage: what it took and what is in use after it, as one row of numbers.
 *
 * The table below is the only place that knows which numbers there are; docs/protocol.md says what each
 * means.
 */
#ifndef RUNNER_COST_H
#define RUNNER_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "ethosu/ethosu_device.h"
#include "memory/temp.h"
#include "runner/meter.h"

/* The records that a row is told in. */
enum cost_record {
    COST_PHASES,
    COST_COUNTS,
    COST_MEMORY,
    COST_RECORDS,
};

/*
 * For each number its record, its key there, and where it stands: in the meter, `device`, `heap` or `temp`.
 */
#define COST_TABLE(row)                                                                                      \
    row(COST_PHASES, "create", meter_instructions(PHASE_CREATE))                                             \
    row(COST_PHASES, "write_inputs", meter_instructions(PHASE_WRITE_INPUTS))                                 \
    row(COST_PHASES, "submit", meter_instructions(PHASE_SUBMIT))                                             \
    row(COST_PHASES, "wait", meter_instructions(PHASE_WAIT))                                                 \
    row(COST_PHASES, "read_outputs", meter_instructions(PHASE_READ_OUTPUTS))                                 \
    row(COST_PHASES, "release", meter_instructions(PHASE_RELEASE))                                           \
    row(COST_PHASES, "sram_clear", meter_instructions(PHASE_SRAM_CLEAR))                                     \
    row(COST_PHASES, "state", meter_instructions(PHASE_STATE))                                               \
    row(COST_COUNTS, "networks", device->counts.networks)                                                    \
    row(COST_COUNTS, "buffers", device->counts.buffers)                                                      \
    row(COST_COUNTS, "inferences", device->counts.inferences)                                                \
    row(COST_COUNTS, "memories", device->counts.memories)                                                    \
    row(COST_COUNTS, "maps", device->counts.maps)                                                            \
    row(COST_COUNTS, "unmaps", device->counts.unmaps)                                                        \
    row(COST_COUNTS, "driver_maps", device->counts.driver_maps)                                              \
    row(COST_COUNTS, "driver_unmaps", device->counts.driver_unmaps)                                          \
    row(COST_COUNTS, "pages", device->counts.pages)                                                          \
    row(COST_COUNTS, "tlb", device->counts.tlb)                                                              \
    row(COST_COUNTS, "allocations", temp->counts.heap_allocations)                                           \
    row(COST_COUNTS, "frees", temp->counts.heap_frees)                                                       \
    row(COST_COUNTS, "reused", temp->counts.reused)                                                          \
    row(COST_COUNTS, "copied", device->counts.copied)                                                        \
    row(COST_COUNTS, "zeroed", device->counts.zeroed)                                                        \
    row(COST_COUNTS, "cleaned", device->counts.cleaned)                                                      \
    row(COST_COUNTS, "invalidated", device->counts.invalidated)                                              \
    row(COST_MEMORY, "pool_used", device->pool.used)                                                         \
    row(COST_MEMORY, "pool_peak", device->pool.peak)                                                         \
    row(COST_MEMORY, "heap_used", heap->used)                                                                \
    row(COST_MEMORY, "heap_peak", heap->peak)                                                                \
    row(COST_MEMORY, "temp_used", temp->live_bytes + temp->cached_bytes)                                     \
    row(COST_MEMORY, "temp_peak", temp->peak)

#define COST_ONE_MORE(record, key, value) +1
#define COST_NUMBERS (0 COST_TABLE(COST_ONE_MORE))

struct cost {
    uint64_t numbers[COST_NUMBERS];
};

struct cost_name {
    enum cost_record record;
    const char *key;
};

extern const struct cost_name cost_names[COST_NUMBERS];

/* Start a stage: counts at 0, and the most that is in use is what is in use now. */
void cost_begin(struct ethosu_device *device, struct heap *heap, struct temp *temp);

/* The cost of the stage that has ended, with the meter's last window. */
struct cost cost_of(const struct ethosu_device *device, const struct heap *heap, const struct temp *temp);

bool cost_is_same(const struct cost *left, const struct cost *right);

#endif
