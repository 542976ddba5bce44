/*
 * A stand-in for Arm's ethos-u-core-driver: the same files, functions and hooks as far as an adapter meets
 * them, with its own simple way of programming the NPU.
 */
#ifndef ETHOSU_DRIVER_H
#define ETHOSU_DRIVER_H

#include "ethosu_device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETHOSU_DRIVER_VERSION_MAJOR 1
#define ETHOSU_DRIVER_VERSION_MINOR 0
#define ETHOSU_DRIVER_VERSION_PATCH 0

#define ETHOSU_SEMAPHORE_WAIT_FOREVER UINT64_MAX

enum ethosu_job_state { ETHOSU_JOB_IDLE, ETHOSU_JOB_RUNNING, ETHOSU_JOB_DONE };
enum ethosu_job_result { ETHOSU_JOB_RESULT_OK, ETHOSU_JOB_RESULT_TIMEOUT, ETHOSU_JOB_RESULT_ERROR };

struct ethosu_job {
    volatile enum ethosu_job_state state;
    volatile enum ethosu_job_result result;
    const uint64_t *base_addr;
    const size_t *base_addr_size;
    int num_base_addr;
    void *user_arg;
};

struct ethosu_driver {
    struct ethosu_device dev;
    struct ethosu_job job;
    void *semaphore;
    uint32_t power_request_counter;
};

/* Weak in the driver. */
void ethosu_irq_handler(struct ethosu_driver *drv);
void ethosu_flush_dcache(const uint64_t *base_addr, const size_t *base_addr_size, int num_base_addr);
void ethosu_invalidate_dcache(const uint64_t *base_addr, const size_t *base_addr_size, int num_base_addr);
void *ethosu_mutex_create(void);
int ethosu_mutex_lock(void *mutex);
int ethosu_mutex_unlock(void *mutex);
void *ethosu_semaphore_create(void);
void ethosu_semaphore_destroy(void *sem);
int ethosu_semaphore_take(void *sem, uint64_t timeout);
int ethosu_semaphore_give(void *sem);
void ethosu_inference_begin(struct ethosu_driver *drv, void *user_arg);
void ethosu_inference_end(struct ethosu_driver *drv, void *user_arg);
uint64_t ethosu_address_remap(uint64_t address, int index);

int ethosu_init(struct ethosu_driver *drv, void *const base_address, const void *fast_memory,
                const size_t fast_memory_size, uint32_t secure_enable, uint32_t privilege_enable);
void ethosu_deinit(struct ethosu_driver *drv);
int ethosu_soft_reset(struct ethosu_driver *drv);
int ethosu_request_power(struct ethosu_driver *drv);
void ethosu_release_power(struct ethosu_driver *drv);
int ethosu_invoke_async(struct ethosu_driver *drv, const void *custom_data_ptr, const int custom_data_size,
                        uint64_t *const base_addr, const size_t *base_addr_size, const int num_base_addr,
                        void *user_arg);
int ethosu_wait(struct ethosu_driver *drv, bool block);

#endif
