#include "runner/calibrate.h"

#include "ethosu/ethosu_buffer.h"
#include "ethosu/ethosu_network.h"
#include "ethosu/ethosu_payload.h"
#include "platform/bytes.h"
#include "platform/cache.h"
#include "runner/meter.h"
#include "runner/report.h"

static const size_t sizes[] = {4096, 16384, 65536};
#define LARGEST 65536
#define LEAST_PAYLOAD_BYTES ((PAYLOAD_LEAST_STREAM + 1) * PAYLOAD_WORD_BYTES)

static void begin(struct ethosu_device *device)
{
    device->counts = (struct ethosu_counts){0};
    meter_open(PHASE_CREATE);
}

static void end(const struct ethosu_device *device, const char *operation, size_t size)
{
    meter_close();
    report_calibration(operation, size, meter_total(), &device->counts);
}

/* A network whose stream is one STOP. */
static enum ethosu_error create_least_network(struct ethosu_device *device, struct ethosu_network *network)
{
    const uint32_t payload[LEAST_PAYLOAD_BYTES / PAYLOAD_WORD_BYTES] = {
        [PAYLOAD_FOURCC] = FOURCC_COP2,
        [PAYLOAD_VERSION] = 1,
        [PAYLOAD_BYTES_LOW] = LEAST_PAYLOAD_BYTES - PAYLOAD_ACTIONS_START,
        [PAYLOAD_ENTRY_TYPE] = ENTRY_COMMAND_STREAM,
        [PAYLOAD_ENTRY_BYTES] = LEAST_PAYLOAD_BYTES - PAYLOAD_ENTRY_START,
        [PAYLOAD_METADATA_BYTES] = PAYLOAD_LEAST_STREAM * PAYLOAD_WORD_BYTES - PAYLOAD_METADATA_START,
        [PAYLOAD_METADATA_FOURCC] = FOURCC_VEUM,
        [PAYLOAD_METADATA_VERSION] = 1,
        [PAYLOAD_CONFIG] = device->config,
        [PAYLOAD_ARCHITECTURE] = device->id,
        [PAYLOAD_FEATURES] = FEATURES_SEPARATE_IO,
        [PAYLOAD_LEAST_STREAM] = COMMAND_STOP,
    };

    return ethosu_network_create(device, payload, sizeof payload, network);
}

static enum ethosu_error create_least_buffer(struct ethosu_device *device, struct ethosu_batch *batch)
{
    static const size_t size = POOL_ROUNDING;

    return ethosu_batch_create(device, &size, 1, batch);
}

static enum ethosu_error measure_objects(struct ethosu_device *device, struct ethosu_network *network,
                                         struct ethosu_batch *neighbour, struct ethosu_batch *batch)
{
    begin(device);
    enum ethosu_error error = create_least_network(device, network);
    ethosu_network_destroy(network);
    end(device, "network", LEAST_PAYLOAD_BYTES);

    /* A buffer as most are created: while others live, since the pool's cost depends on their number. */
    if (error == ETHOSU_OK) {
        error = create_least_network(device, network);
    }
    if (error == ETHOSU_OK) {
        error = create_least_buffer(device, neighbour);
    }
    if (error == ETHOSU_OK) {
        begin(device);
        error = create_least_buffer(device, batch);
        ethosu_batch_destroy(batch);
        end(device, "buffer", POOL_ROUNDING);
    }
    return error;
}

void calibrate_objects(struct ethosu_device *device)
{
    struct ethosu_network network = {0};
    struct ethosu_batch neighbour = {0};
    struct ethosu_batch batch = {0};
    struct ethosu_memory touched; /* memory costs more when it is used first: see ethosu_memory.c */
    enum ethosu_error error = ethosu_memory_create(device, LARGEST, &touched);

    if (error == ETHOSU_OK) {
        ethosu_memory_destroy(device, &touched);
        error = measure_objects(device, &network, &neighbour, &batch);
    }
    ethosu_batch_destroy(&neighbour);
    ethosu_network_destroy(&network);
    if (error != ETHOSU_OK) {
        report_driver_fault(ethosu_error_name(error), "calibration");
    }
}

static void measure_bytes(struct ethosu_device *device, void *to, const void *from, size_t size)
{
    begin(device);
    memcpy(to, from, size);
    device->counts.copied += size;
    end(device, "copy", size);

    begin(device);
    memset(to, 0, size);
    device->counts.zeroed += size;
    end(device, "zero", size);

    begin(device);
    device->counts.cleaned += cache_clean(to, size);
    end(device, "clean", size);

    begin(device);
    device->counts.invalidated += cache_invalidate(to, size);
    end(device, "invalidate", size);
}

void calibrate_bytes(struct ethosu_device *device)
{
    struct ethosu_memory from;
    struct ethosu_memory to;
    enum ethosu_error error = ethosu_memory_create(device, LARGEST, &from);

    if (error == ETHOSU_OK) {
        error = ethosu_memory_create(device, LARGEST, &to);
    }
    if (error != ETHOSU_OK) {
        report_driver_fault(ethosu_error_name(error), "calibration");
        return;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        measure_bytes(device, (void *)to.block.address, (const void *)from.block.address, sizes[i]);
    }
    ethosu_memory_destroy(device, &to);
    ethosu_memory_destroy(device, &from);
}
