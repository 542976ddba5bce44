#include "runner/meter.h"

#include "platform/counters.h"

/* One slot more than there are phases: it is charged while no window is open. */
static uint64_t instructions[PHASE_COUNT + 1];
static uint64_t ticks[PHASE_COUNT + 1];
static enum phase charged = PHASE_COUNT;
static uint64_t last_instructions;
static uint64_t last_ticks;
static uint64_t window;

/*
 * The one place that reads the counters: out of line and without branches, so that what lies between two
 * readings with nothing in between is always the same.
 */
__attribute__((noinline)) void meter_enter(enum phase phase)
{
    uint64_t now_ticks = counters_ticks();
    uint64_t now = counters_instructions();

    instructions[charged] += now - last_instructions - window;
    ticks[charged] += now_ticks - last_ticks;
    charged = phase;
    last_instructions = now;
    last_ticks = now_ticks;
}

void meter_close(void)
{
    meter_enter(PHASE_COUNT);
}

void meter_open(enum phase phase)
{
    for (unsigned i = 0; i < PHASE_COUNT; i++) {
        instructions[i] = 0;
        ticks[i] = 0;
    }
    meter_enter(phase);
}

void meter_initialise(void)
{
    window = 0;
    meter_open(PHASE_CREATE);
    meter_close();
    window = instructions[PHASE_CREATE];
}

uint64_t meter_window(void)
{
    return window;
}

uint64_t meter_instructions(enum phase phase)
{
    return instructions[phase];
}

uint64_t meter_ticks(enum phase phase)
{
    return ticks[phase];
}

uint64_t meter_total(void)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < PHASE_COUNT; i++) {
        total += instructions[i];
    }
    return total;
}
