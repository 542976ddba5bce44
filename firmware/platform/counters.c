#include "platform/counters.h"

#include "platform/system.h"

/* Arm DDI 0487: common event numbers, and the fields of PMCR_EL0 and ID_AA64DFR0_EL1. */
#define EVENT_INST_RETIRED 0x08
#define COUNTER_0 1
#define PMCR_ENABLE 0x01
#define PMCR_RESET_EVENT_COUNTERS 0x02
#define PMCR_LONG_EVENT_COUNTERS 0x80
#define PMUVER_V3P5 6
#define PMUVER_IMPLEMENTATION_DEFINED 15

static bool has_long_counters(void)
{
    uint64_t version = (system_read(id_aa64dfr0_el1) >> 8) & 15;

    return version >= PMUVER_V3P5 && version != PMUVER_IMPLEMENTATION_DEFINED;
}

void counters_enable(void)
{
    system_write(pmevtyper0_el0, EVENT_INST_RETIRED);
    system_write(pmovsclr_el0, COUNTER_0);
    system_write(pmcntenset_el0, COUNTER_0);
    system_write(pmcr_el0, PMCR_ENABLE | PMCR_RESET_EVENT_COUNTERS
                               | (has_long_counters() ? PMCR_LONG_EVENT_COUNTERS : 0));
    barrier_instructions();
}

uint64_t counters_instructions(void)
{
    barrier_instructions();
    return system_read(pmevcntr0_el0);
}

bool counters_overflowed(void)
{
    return (system_read(pmovsset_el0) & COUNTER_0) != 0;
}

uint64_t counters_ticks(void)
{
    barrier_instructions();
    return system_read(cntvct_el0);
}

uint64_t counters_ticks_per_second(void)
{
    return system_read(cntfrq_el0);
}

uint64_t deadline_in(uint32_t milliseconds)
{
    return counters_ticks() + counters_ticks_per_second() * milliseconds / 1000;
}

bool deadline_passed(uint64_t deadline)
{
    return counters_ticks() > deadline;
}
