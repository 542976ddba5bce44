#include "platform/exception.h"

#include <stdbool.h>

#include "platform/system.h"

_Noreturn void exception_entry(unsigned vector);

_Noreturn void exception_entry(unsigned vector)
{
    static bool reporting;

    if (reporting) {
        halt(); /* the report itself failed: reporting again would fail again */
    }
    reporting = true;
    struct exception exception = {
        .vector = vector,
        .from_level = (unsigned)((system_read(spsr_el1) >> 2) & 3),
        .esr = system_read(esr_el1),
        .elr = system_read(elr_el1),
        .far = system_read(far_el1),
        .spsr = system_read(spsr_el1),
    };
    exception_report(&exception);
}
