/* Staging: tensors go through copies in temporary memory, as runtimes have them do. */
#ifndef RUNNER_STAGING_H
#define RUNNER_STAGING_H

#include <stddef.h>

#include "ethosu/ethosu_buffer.h"

struct execution;

/* Temporary memory for `size` bytes; NULL with the reason, ETHOSU_INJECTED or ETHOSU_NO_HEAP, in `error`. */
void *staging_take(struct execution *execution, size_t size, enum ethosu_error *error);

/* Copy, and count it. */
void staging_copy(struct execution *execution, void *to, const void *from, size_t size);

/*
 * Between these two the CPU may touch a batch: they map and unmap its memory where that does not stay mapped.
 * The errors are those of ethosu_memory_map() and ethosu_memory_unmap().
 */
enum ethosu_error staging_begin_access(const struct execution *execution, const struct ethosu_batch *batch);
enum ethosu_error staging_end_access(const struct execution *execution, const struct ethosu_batch *batch);

#endif
