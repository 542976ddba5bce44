#include "runner/calibrate.h"

#include "ethosu/ethosu_buffer.h"
#include "ethosu/ethosu_network.h"
#include "ethosu/ethosu_payload.h"
#include "memory/heap.h"
#include "memory/temp.h"
#include "platform/bytes.h"
#include "platform/cache.h"
#include "runner/cost.h"
#include "runner/meter.h"
#include "runner/report.h"

static const size_t sizes[] = {4096, 16384, 65536};
#define SIZE_COUNT (sizeof sizes / sizeof sizes[0])
#define LARGEST 65536
#define LEAST_PAYLOAD_BYTES ((PAYLOAD_LEAST_STREAM + 1) * PAYLOAD_WORD_BYTES)

extern uint8_t heap_start[], heap_end[];

static struct heap heap;
static struct temp temp;

static void begin(struct ethosu_device *device)
{
    cost_begin(device, &heap, &temp);
    meter_open(PHASE_CREATE);
}

static void end(const struct ethosu_device *device, const char *operation, size_t size)
{
    meter_close();
    struct cost cost = cost_of(device, &heap, &temp);
    report_calibration(operation, size, meter_total(), &cost);
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

static enum ethosu_error create_least_buffer(struct ethosu_device *device, enum ethosu_mapping mapping,
                                             struct ethosu_batch *batch)
{
    static const size_t size = POOL_ROUNDING;

    return ethosu_batch_create(device, &size, 1, mapping, batch);
}

static enum ethosu_error measure_memory(struct ethosu_device *device)
{
    struct ethosu_memory memory;

    begin(device);
    enum ethosu_error error = ethosu_memory_create(device, POOL_ROUNDING, ETHOSU_ALWAYS_MAPPED, &memory);
    ethosu_memory_destroy(&memory);
    end(device, "memory", POOL_ROUNDING);
    return error;
}

static enum ethosu_error measure_buffer(struct ethosu_device *device, enum ethosu_mapping mapping,
                                        const char *operation)
{
    struct ethosu_batch batch = {0};

    begin(device);
    enum ethosu_error error = create_least_buffer(device, mapping, &batch);
    ethosu_batch_destroy(&batch);
    end(device, operation, POOL_ROUNDING);
    return error;
}

/* Objects as most are created: while others live, since the pool's cost depends on their number. */
static enum ethosu_error measure_objects(struct ethosu_device *device, struct ethosu_network *network,
                                         struct ethosu_batch *neighbour)
{
    begin(device);
    enum ethosu_error error = create_least_network(device, network);
    ethosu_network_destroy(network);
    end(device, "network", LEAST_PAYLOAD_BYTES);

    if (error == ETHOSU_OK) {
        error = create_least_network(device, network);
    }
    if (error == ETHOSU_OK) {
        error = create_least_buffer(device, ETHOSU_ALWAYS_MAPPED, neighbour);
    }
    if (error == ETHOSU_OK) {
        error = measure_memory(device);
    }
    if (error == ETHOSU_OK) {
        error = measure_buffer(device, ETHOSU_ALWAYS_MAPPED, "buffer");
    }
    if (error == ETHOSU_OK) {
        error = measure_buffer(device, ETHOSU_MAPPED_ON_DEMAND, "on_demand_buffer");
    }
    return error;
}

static enum ethosu_error measure_mapping(struct ethosu_device *device, size_t size)
{
    struct ethosu_memory memory;
    enum ethosu_error error = ethosu_memory_create(device, size, ETHOSU_MAPPED_ON_DEMAND, &memory);

    if (error != ETHOSU_OK) {
        return error;
    }
    begin(device);
    error = ethosu_memory_map(&memory);
    end(device, "map", size);

    begin(device);
    enum ethosu_error unmapped = ethosu_memory_unmap(&memory);
    end(device, "unmap", size);

    ethosu_memory_destroy(&memory);
    return error == ETHOSU_OK ? unmapped : error;
}

/* An allocation and the reset after it, whatever the allocator makes of them. */
static enum ethosu_error measure_allocation(struct ethosu_device *device, const char *operation)
{
    begin(device);
    bool is_taken = temp_allocate(&temp, LARGEST, TEMP_CACHE_ALIGNMENT) != NULL;
    temp_reset(&temp);
    end(device, operation, LARGEST);
    return is_taken ? ETHOSU_OK : ETHOSU_NO_HEAP;
}

static enum ethosu_error measure_allocations(struct ethosu_device *device)
{
    heap_initialise(&heap, heap_start, (size_t)(heap_end - heap_start));
    temp_initialise(&temp, TEMP_MALLOC, &heap, 0);
    enum ethosu_error error = measure_allocation(device, "allocate");
    temp_destroy(&temp);

    temp_initialise(&temp, TEMP_CACHING, &heap, SIZE_MAX);
    if (temp_allocate(&temp, LARGEST, TEMP_CACHE_ALIGNMENT) == NULL) {
        error = ETHOSU_NO_HEAP;
    }
    temp_reset(&temp); /* now there is a block to use again */
    if (error == ETHOSU_OK) {
        error = measure_allocation(device, "reuse");
    }
    temp_destroy(&temp);
    return error;
}

static void report_error(enum ethosu_error error)
{
    if (error != ETHOSU_OK) {
        report_driver_fault(ethosu_error_name(error), "calibration");
    }
}

static void calibrate_objects(struct ethosu_device *device)
{
    struct ethosu_network network = {0};
    struct ethosu_batch neighbour = {0};
    struct ethosu_memory touched; /* memory costs more when it is used first: see ethosu_memory.c */
    enum ethosu_error error = ethosu_memory_create(device, 2 * LARGEST, ETHOSU_ALWAYS_MAPPED, &touched);

    if (error == ETHOSU_OK) {
        ethosu_memory_destroy(&touched);
        error = measure_objects(device, &network, &neighbour);
    }
    for (size_t i = 0; i < SIZE_COUNT && error == ETHOSU_OK; i++) {
        error = measure_mapping(device, sizes[i]);
    }
    if (error == ETHOSU_OK) {
        error = measure_allocations(device);
    }
    ethosu_batch_destroy(&neighbour);
    ethosu_network_destroy(&network);
    report_error(error);
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

static void calibrate_bytes(struct ethosu_device *device)
{
    struct ethosu_memory from;
    struct ethosu_memory to = {0};
    enum ethosu_error error = ethosu_memory_create(device, LARGEST, ETHOSU_ALWAYS_MAPPED, &from);

    if (error == ETHOSU_OK) {
        error = ethosu_memory_create(device, LARGEST, ETHOSU_ALWAYS_MAPPED, &to);
    }
    for (size_t i = 0; i < SIZE_COUNT && error == ETHOSU_OK; i++) {
        measure_bytes(device, (void *)to.block.address, (const void *)from.block.address, sizes[i]);
    }
    ethosu_memory_destroy(&to);
    ethosu_memory_destroy(&from);
    report_error(error);
}

void calibrate(struct ethosu_device *device)
{
    calibrate_objects(device);
    calibrate_bytes(device);
}
