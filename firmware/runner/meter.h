/*
 * The meter: instructions and time by phase, from when it is opened until it is closed, without a gap.
 *
 * At every moment of an open window one phase is charged. Reading the counters itself costs a constant number
 * of instructions, the empty window, which is measured once and taken off every stretch, so that the phases
 * sum to what the measured code alone executes. Nothing is printed while a window is open.
 */
#ifndef RUNNER_METER_H
#define RUNNER_METER_H

#include <stdint.h>

enum phase {
    PHASE_CREATE,
    PHASE_WRITE_INPUTS,
    PHASE_SUBMIT,
    PHASE_WAIT,
    PHASE_READ_OUTPUTS,
    PHASE_RELEASE,
    PHASE_SRAM_CLEAR,
    PHASE_STATE,
    PHASE_COUNT,
};

/* Measure the empty window. It stays 0 when the instruction counter does not count. */
void meter_initialise(void);

/* Instructions of an empty window. */
uint64_t meter_window(void);

/* Open a window with all phases at 0, and charge `phase`. */
void meter_open(enum phase phase);

/* Charge `phase` from here on. */
void meter_enter(enum phase phase);

/* Close the window. */
void meter_close(void);

/* Instructions charged to a phase in the last window. */
uint64_t meter_instructions(enum phase phase);

/* Instructions of the last window: the sum of its phases. */
uint64_t meter_total(void);

/* Ticks of the generic timer that went by in a phase of the last window. */
uint64_t meter_ticks(enum phase phase);

#endif
