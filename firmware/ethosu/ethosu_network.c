#include "ethosu/ethosu_network.h"

#include "ethosu/ethosu_payload.h"
#include "ethosu/ethosu_registers.h"

#define STREAM_MAX_BYTES ((size_t)16 << 20)

/* Whether the payload has the one shape that the driver runs. */
static bool is_acceptable(const uint32_t *words, size_t size)
{
    return size >= PAYLOAD_LEAST_METADATA_END && words[PAYLOAD_FOURCC] == FOURCC_COP2
           && VERSION_MAJOR(words[PAYLOAD_VERSION]) == 1 && words[PAYLOAD_BYTES_HIGH] == 0
           && words[PAYLOAD_BYTES_LOW] == size - PAYLOAD_ACTIONS_START
           && words[PAYLOAD_ENTRY_TYPE] == ENTRY_COMMAND_STREAM
           && words[PAYLOAD_ENTRY_BYTES] == size - PAYLOAD_ENTRY_START
           && words[PAYLOAD_METADATA_FOURCC] == FOURCC_VEUM
           && VERSION_MAJOR(words[PAYLOAD_METADATA_VERSION]) == 1
           && words[PAYLOAD_FEATURES] == FEATURES_SEPARATE_IO;
}

static enum ethosu_error find_stream(struct ethosu_device *device, struct ethosu_network *network,
                                     size_t size)
{
    const uint32_t *words = (const uint32_t *)network->memory.block.address;

    if (!is_acceptable(words, size)) {
        return ETHOSU_BAD_STREAM;
    }
    size_t start = (size_t)PAYLOAD_METADATA_START + words[PAYLOAD_METADATA_BYTES];
    if (start < PAYLOAD_LEAST_METADATA_END || start >= size) {
        return ETHOSU_BAD_STREAM;
    }
    network->stream = network->memory.block.address + start;
    network->stream_size = size - start;
    if (network->stream_size % PAYLOAD_WORD_BYTES != 0 || network->stream_size > STREAM_MAX_BYTES) {
        return ETHOSU_BAD_STREAM;
    }
    return ethosu_device_is_aligned(device, "stream", network->stream) ? ETHOSU_OK : ETHOSU_MISALIGNED;
}

static enum ethosu_error check_against_npu(struct ethosu_network *network, const struct ethosu_device *device)
{
    const uint32_t *words = (const uint32_t *)network->memory.block.address;
    uint32_t architecture = words[PAYLOAD_ARCHITECTURE];

    network->config = words[PAYLOAD_CONFIG];
    if (network->config != device->config) {
        return ETHOSU_WRONG_CONFIG;
    }
    if (ID_ARCH_MAJOR(architecture) != ID_ARCH_MAJOR(device->id)
        || ID_ARCH_MINOR(architecture) > ID_ARCH_MINOR(device->id)) {
        return ETHOSU_WRONG_VERSION;
    }
    return ETHOSU_OK;
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
    error = find_stream(device, network, size);
    if (error == ETHOSU_OK) {
        error = check_against_npu(network, device);
    }
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
