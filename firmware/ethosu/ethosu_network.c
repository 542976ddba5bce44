#include "ethosu/ethosu_network.h"

#include "ethosu/ethosu_registers.h"

/* Words of a COP2 payload with one command stream: Vela 5.2, regor/tflite/custom_operator_ethosu.hpp. */
enum {
    WORD_PAYLOAD_FOURCC = 0,
    WORD_PAYLOAD_VERSION = 1, /* major in the low half */
    WORD_PAYLOAD_BYTES = 2,   /* that follow word 3; 64 bits */
    WORD_ENTRY_TYPE = 4,
    WORD_ENTRY_BYTES = 5,    /* that follow this word */
    WORD_METADATA_BYTES = 6, /* that follow this word, up to the stream */
    WORD_METADATA_FOURCC = 7,
    WORD_METADATA_VERSION = 8,
    WORD_CONFIG = 10,
    WORD_ARCHITECTURE = 11,
    WORD_FEATURES = 12,
    HEADER_WORDS = 15, /* the least that the metadata can end with */
};

#define WORD_BYTES sizeof(uint32_t)
#define PAYLOAD_HEADER_BYTES (4 * WORD_BYTES)
#define ENTRY_BEFORE_DATA_BYTES (6 * WORD_BYTES)
#define METADATA_START_BYTES (7 * WORD_BYTES)
#define FOURCC_COP2 UINT32_C(0x32504f43)
#define FOURCC_VEUM UINT32_C(0x4d554556)
#define MAJOR(version) ((version) & 0xffff)
#define ENTRY_COMMAND_STREAM 1
#define FEATURES_SEPARATE_IO 2
#define STREAM_ALIGNMENT 16
#define STREAM_MAX_BYTES ((size_t)16 << 20)

/* Whether the payload has the one shape that the driver runs; finds the stream in it. */
static enum ethosu_error find_stream(struct ethosu_network *network, size_t size)
{
    const uint32_t *words = (const uint32_t *)network->memory.block.address;

    if (size < HEADER_WORDS * WORD_BYTES || words[WORD_PAYLOAD_FOURCC] != FOURCC_COP2
        || MAJOR(words[WORD_PAYLOAD_VERSION]) != 1 || words[WORD_PAYLOAD_BYTES + 1] != 0
        || words[WORD_PAYLOAD_BYTES] != size - PAYLOAD_HEADER_BYTES
        || words[WORD_ENTRY_TYPE] != ENTRY_COMMAND_STREAM
        || words[WORD_ENTRY_BYTES] != size - ENTRY_BEFORE_DATA_BYTES
        || words[WORD_METADATA_FOURCC] != FOURCC_VEUM || MAJOR(words[WORD_METADATA_VERSION]) != 1
        || words[WORD_FEATURES] != FEATURES_SEPARATE_IO) {
        return ETHOSU_BAD_STREAM;
    }
    size_t before_stream = METADATA_START_BYTES + (size_t)words[WORD_METADATA_BYTES];
    if (before_stream < HEADER_WORDS * WORD_BYTES || before_stream >= size) {
        return ETHOSU_BAD_STREAM;
    }
    network->stream = network->memory.block.address + before_stream;
    network->stream_size = size - before_stream;
    if (network->stream_size % WORD_BYTES != 0 || network->stream_size > STREAM_MAX_BYTES) {
        return ETHOSU_BAD_STREAM;
    }
    return network->stream % STREAM_ALIGNMENT == 0 ? ETHOSU_OK : ETHOSU_MISALIGNED;
}

static enum ethosu_error check_against_npu(struct ethosu_network *network, const struct ethosu_device *device)
{
    const uint32_t *words = (const uint32_t *)network->memory.block.address;
    uint32_t architecture = words[WORD_ARCHITECTURE];

    network->config = words[WORD_CONFIG];
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
    enum ethosu_error error = ethosu_memory_create(device, size, &network->memory);
    if (error != ETHOSU_OK) {
        return error;
    }
    ethosu_memory_write(device, &network->memory, 0, payload, size);
    error = find_stream(network, size);
    if (error == ETHOSU_OK) {
        error = check_against_npu(network, device);
    }
    if (error != ETHOSU_OK) {
        ethosu_memory_destroy(device, &network->memory);
        return error;
    }
    network->device = device;
    device->counts.networks++;
    device->live_networks++;
    return ETHOSU_OK;
}

void ethosu_network_destroy(struct ethosu_network *network)
{
    if (network->device != NULL) {
        ethosu_memory_destroy(network->device, &network->memory);
        network->device->live_networks--;
        network->device = NULL;
    }
}
