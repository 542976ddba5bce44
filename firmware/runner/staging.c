#include "runner/staging.h"

#include "platform/bytes.h"
#include "runner/execution.h"

#define TENSOR_ALIGNMENT 16 /* what delegates ask of the temporary allocator */

void *staging_take(struct execution *execution, size_t size, enum ethosu_error *error)
{
    if (ethosu_device_must_fail(execution->device)) {
        *error = ETHOSU_INJECTED;
        return NULL;
    }
    void *taken = temp_allocate(execution->temp, size, TENSOR_ALIGNMENT);
    *error = taken == NULL ? ETHOSU_NO_HEAP : ETHOSU_OK;
    return taken;
}

void staging_copy(struct execution *execution, void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    execution->device->counts.copied += size;
}

enum ethosu_error staging_begin_access(const struct execution *execution, const struct ethosu_batch *batch)
{
    return execution->io_is_persistent ? ETHOSU_OK : ethosu_memory_map(batch->memory);
}

enum ethosu_error staging_end_access(const struct execution *execution, const struct ethosu_batch *batch)
{
    return execution->io_is_persistent ? ETHOSU_OK : ethosu_memory_unmap(batch->memory);
}
