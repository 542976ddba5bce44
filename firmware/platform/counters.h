/* The counters of the processor: retired instructions, and the time that deadlines are made of. */
#ifndef PLATFORM_COUNTERS_H
#define PLATFORM_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Let PMU event counter 0 count retired instructions (event 0x08) at EL1, from 0. */
void counters_enable(void);

/*
 * Instructions retired since counters_enable(). 64 bits wide where the PMU has such counters (PMUv3p5), else
 * 32 bits: then a difference is only good while counters_overflowed() says no.
 */
uint64_t counters_instructions(void);

/* Whether the instruction counter has wrapped since it was enabled. */
bool counters_overflowed(void);

/* The generic timer now, in ticks. */
uint64_t counters_ticks(void);

/* Ticks of the generic timer in a second; 0 when no earlier stage has set it. */
uint64_t counters_ticks_per_second(void);

/* The tick `milliseconds` from now. */
uint64_t deadline_in(uint32_t milliseconds);

/* Whether that tick is past. */
bool deadline_passed(uint64_t deadline);

#endif
