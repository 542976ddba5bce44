/* What the processor says of an exception taken to EL1. */
#ifndef PLATFORM_EXCEPTION_H
#define PLATFORM_EXCEPTION_H

#include <stdint.h>

/* The exception registers, as they were on entry. */
struct exception {
    unsigned vector;     /* 0..15 in the order of the vector table */
    unsigned from_level; /* exception level it was taken from */
    uint64_t esr;        /* syndrome: class and cause; means nothing for IRQ and FIQ */
    uint64_t elr;        /* address to return to: at or after the instruction at fault */
    uint64_t far;        /* address at fault; holds only for aborts and alignment faults */
    uint64_t spsr;       /* processor state before */
};

/*
 * Report an exception and end the run. Provided by the program; called on a stack of its own, from the
 * vectors, with interrupts masked. An exception inside it does not return here: it ends in halt().
 */
_Noreturn void exception_report(const struct exception *exception);

#endif
