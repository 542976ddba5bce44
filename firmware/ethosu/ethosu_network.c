#include "ethosu/ethosu_network.h"

#include "ethosu/ethosu_payload.h"
#include "ethosu/ethosu_registers.h"

#define STREAM_MAX_BYTES ((size_t)16 << 20)

static enum ethosu_error find_stream(struct ethosu_device *device, struct ethosu_network *network,
                                     const struct ethosu_payload *payload)
{
    network->stream = network->memory.block.address + payload->start;
    network->stream_size = payload->size;
    if (network->stream_size > STREAM_MAX_BYTES) {
        return ETHOSU_BAD_STREAM;
    }
    return ethosu_device_is_aligned(device, "stream", network->stream) ? ETHOSU_OK : ETHOSU_MISALIGNED;
}

static enum ethosu_error check_against_npu(const struct ethosu_payload *payload,
                                           const struct ethosu_device *device)
{
    if (payload->config != device->config) {
        return ETHOSU_WRONG_CONFIG;
    }
    if (ID_ARCH_MAJOR(payload->architecture) != ID_ARCH_MAJOR(device->id)
        || ID_ARCH_MINOR(payload->architecture) > ID_ARCH_MINOR(device->id)) {
        return ETHOSU_WRONG_VERSION;
    }
    return ETHOSU_OK;
}

/* Check the payload that has been copied, and find its stream. */
static enum ethosu_error open(struct ethosu_device *device, size_t size, struct ethosu_network *network)
{
    struct ethosu_payload payload;

    if (!ethosu_payload_read((const uint32_t *)network->memory.block.address, size, &payload)) {
        return ETHOSU_BAD_STREAM;
    }
    network->config = payload.config;
    enum ethosu_error error = find_stream(device, network, &payload);
    return error == ETHOSU_OK ? check_against_npu(&payload, device) : error;
}

enum ethosu_error ethosu_network_create(struct ethosu_device *device, const void *payload, size_t size,
                                        struct ethosu_network *network)
{
    *network = (struct ethosu_network){0};
    if (ethosu_device_must_fail(device)) {
        return ETHOSU_INJECTED;
    }
    enum ethosu_error error = ethosu_memory_create(device, size, ETHOSU_ALWAYS_MAPPED, &network->memory);
    if (error != ETHOSU_OK) {
        return error;
    }
    ethosu_memory_write(&network->memory, 0, payload, size);
    error = open(device, size, network);
    if (error != ETHOSU_OK) {
        ethosu_memory_destroy(&network->memory);
        return error;
    }
    network->device = device;
    network->entry = ethosu_ledger_add(&device->ledger, "network", 0, device->origin);
    device->counts.networks++;
    return ETHOSU_OK;
}

void ethosu_network_destroy(struct ethosu_network *network)
{
    if (network->device != NULL) {
        ethosu_memory_destroy(&network->memory);
        ethosu_ledger_remove(&network->device->ledger, network->entry);
        network->device = NULL;
    }
}
