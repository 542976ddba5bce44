/* Scratch access: the CPU's copies into and out of scratch memory, whichever kind a model has it in. */
#ifndef RUNNER_SCRATCH_ACCESS_H
#define RUNNER_SCRATCH_ACCESS_H

#include <stddef.h>

#include "ethosu/ethosu_error.h"

struct execution;

/*
 * Copy `size` bytes to, or from, `offset` bytes behind the start of the scratch memory. A driver object is
 * mapped around the copy where it does not stay mapped; temporary memory is cleaned, or invalidated, in the
 * caches. The errors are those of staging_begin_access(), ethosu_buffer_write() and ETHOSU_SHORT_READ.
 */
enum ethosu_error scratch_write(struct execution *execution, size_t offset, const void *from, size_t size);
enum ethosu_error scratch_read(struct execution *execution, size_t offset, void *to, size_t size);

#endif
