#include "runner/scratch_access.h"

#include "platform/cache.h"
#include "runner/execution.h"
#include "runner/staging.h"

/* Temporary scratch memory is the CPU's own: it needs no mapping, and nobody else looks after its caches. */
static void write_temporary(struct execution *execution, size_t offset, const void *from, size_t size)
{
    void *to = (void *)(execution->temporary_scratch + offset);

    staging_copy(execution, to, from, size);
    execution->device->counts.cleaned += cache_clean(to, size);
}

static void read_temporary(struct execution *execution, size_t offset, void *to, size_t size)
{
    void *from = (void *)(execution->temporary_scratch + offset);

    execution->device->counts.invalidated += cache_invalidate(from, size);
    staging_copy(execution, to, from, size);
}

static enum ethosu_error write_buffer(struct execution *execution, size_t offset, const void *from, size_t size)
{
    enum ethosu_error error = staging_begin_access(execution, &execution->scratch);

    if (error != ETHOSU_OK) {
        return error;
    }
    ethosu_buffer_seek(&execution->scratch, 0, offset);
    error = ethosu_buffer_write(&execution->scratch, 0, from, size);
    enum ethosu_error end = staging_end_access(execution, &execution->scratch);
    return error == ETHOSU_OK ? end : error;
}

static enum ethosu_error read_buffer(struct execution *execution, size_t offset, void *to, size_t size)
{
    enum ethosu_error error = staging_begin_access(execution, &execution->scratch);

    if (error != ETHOSU_OK) {
        return error;
    }
    ethosu_buffer_seek(&execution->scratch, 0, offset);
    error =
        ethosu_buffer_read(&execution->scratch, 0, to, size) == size ? ETHOSU_OK : ETHOSU_SHORT_READ;
    enum ethosu_error end = staging_end_access(execution, &execution->scratch);
    return error == ETHOSU_OK ? end : error;
}

enum ethosu_error scratch_write(struct execution *execution, size_t offset, const void *from, size_t size)
{
    if (execution->temporary_scratch != 0) {
        write_temporary(execution, offset, from, size);
        return ETHOSU_OK;
    }
    return write_buffer(execution, offset, from, size);
}

enum ethosu_error scratch_read(struct execution *execution, size_t offset, void *to, size_t size)
{
    if (execution->temporary_scratch != 0) {
        read_temporary(execution, offset, to, size);
        return ETHOSU_OK;
    }
    return read_buffer(execution, offset, to, size);
}
