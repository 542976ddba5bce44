#include "ethosu/ethosu_inference.h"

enum ethosu_error
ethosu_inference_create(const struct ethosu_network *network, const struct ethosu_batch *weights,
                        uintptr_t scratch, const struct ethosu_batch *inputs,
                        const struct ethosu_batch *outputs, struct ethosu_inference *inference)
{
    struct ethosu_device *device = network->device;
    const uintptr_t regions[ETHOSU_REGIONS] = {
        ethosu_batch_address(weights), scratch, device->sram_base, ethosu_batch_address(inputs),
        ethosu_batch_address(outputs),
    };

    inference->device = NULL;
    if (ethosu_device_must_fail(device)) {
        return ETHOSU_INJECTED;
    }
    enum ethosu_error error = ethosu_device_start(device, network->stream, network->stream_size, regions);
    if (error != ETHOSU_OK) {
        return error;
    }
    *inference = (struct ethosu_inference){.device = device, .status = ETHOSU_STATUS_RUNNING};
    inference->entry = ethosu_ledger_add(&device->ledger, "inference", 0, device->origin);
    device->counts.inferences++;
    return ETHOSU_OK;
}

enum ethosu_error ethosu_inference_wait(struct ethosu_inference *inference, uint32_t timeout_ms)
{
    enum ethosu_error error = ethosu_device_wait(inference->device, timeout_ms, &inference->cycles);

    if (error == ETHOSU_OK) {
        inference->status = ETHOSU_STATUS_OK;
    } else if (error != ETHOSU_TIMED_OUT) {
        inference->status = ETHOSU_STATUS_ERROR;
    }
    return error;
}

enum ethosu_error ethosu_inference_destroy(struct ethosu_inference *inference)
{
    enum ethosu_error error = ETHOSU_OK;

    if (inference->device != NULL) {
        if (inference->status == ETHOSU_STATUS_RUNNING) {
            error = ethosu_device_reset(inference->device);
            inference->status = ETHOSU_STATUS_ABORTED;
        }
        ethosu_ledger_remove(&inference->device->ledger, inference->entry);
        inference->device = NULL;
    }
    return error;
}
