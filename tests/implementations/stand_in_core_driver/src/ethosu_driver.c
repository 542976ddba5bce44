#include "ethosu_driver.h"

#include "ethosu_log.h"

#include <cmsis_compiler.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define COP1 0x31504f43u

struct ethosu_semaphore_t {
    uint8_t count;
};

static void *ethosu_mutex;
static void *available;

void __attribute__((weak)) ethosu_flush_dcache(const uint64_t *base_addr, const size_t *base_addr_size,
                                               int num_base_addr)
{
    (void)base_addr;
    (void)base_addr_size;
    (void)num_base_addr;
}

void __attribute__((weak)) ethosu_invalidate_dcache(const uint64_t *base_addr, const size_t *base_addr_size,
                                                    int num_base_addr)
{
    (void)base_addr;
    (void)base_addr_size;
    (void)num_base_addr;
}

void *__attribute__((weak)) ethosu_mutex_create(void)
{
    static uint8_t mutex;
    return &mutex;
}

int __attribute__((weak)) ethosu_mutex_lock(void *mutex)
{
    (void)mutex;
    return 0;
}

int __attribute__((weak)) ethosu_mutex_unlock(void *mutex)
{
    (void)mutex;
    return 0;
}

void *__attribute__((weak)) ethosu_semaphore_create(void)
{
    struct ethosu_semaphore_t *sem = malloc(sizeof(*sem));
    if (sem != NULL) {
        sem->count = 0;
    }
    return sem;
}

void __attribute__((weak)) ethosu_semaphore_destroy(void *sem)
{
    free(sem);
}

int __attribute__((weak)) ethosu_semaphore_take(void *sem, uint64_t timeout)
{
    struct ethosu_semaphore_t *s = sem;

    (void)timeout;
    while (s->count == 0) {
        __WFE();
    }
    s->count--;
    return 0;
}

int __attribute__((weak)) ethosu_semaphore_give(void *sem)
{
    struct ethosu_semaphore_t *s = sem;

    s->count++;
    __SEV();
    return 0;
}

void __attribute__((weak)) ethosu_inference_begin(struct ethosu_driver *drv, void *user_arg)
{
    (void)drv;
    (void)user_arg;
}

void __attribute__((weak)) ethosu_inference_end(struct ethosu_driver *drv, void *user_arg)
{
    (void)drv;
    (void)user_arg;
}

void __attribute__((weak)) ethosu_irq_handler(struct ethosu_driver *drv)
{
    drv->job.state = ETHOSU_JOB_DONE;
    drv->job.result = ethosu_dev_handle_interrupt(&drv->dev) ? ETHOSU_JOB_RESULT_OK : ETHOSU_JOB_RESULT_ERROR;
    ethosu_semaphore_give(drv->semaphore);
}

static void forget_job(struct ethosu_driver *drv)
{
    memset(&drv->job, 0, sizeof(drv->job));
}

int ethosu_init(struct ethosu_driver *drv, void *const base_address, const void *fast_memory,
                const size_t fast_memory_size, uint32_t secure_enable, uint32_t privilege_enable)
{
    (void)fast_memory;
    (void)fast_memory_size;
    if (ethosu_mutex == NULL) {
        ethosu_mutex = ethosu_mutex_create();
        available = ethosu_semaphore_create();
    }
    drv->power_request_counter = 0;
    if (!ethosu_dev_init(&drv->dev, base_address, secure_enable, privilege_enable)) {
        return -1;
    }
    drv->semaphore = ethosu_semaphore_create();
    if (available == NULL || drv->semaphore == NULL) {
        return -1;
    }
    forget_job(drv);
    ethosu_semaphore_give(available);
    return 0;
}

void ethosu_deinit(struct ethosu_driver *drv)
{
    ethosu_mutex_lock(ethosu_mutex);
    ethosu_semaphore_take(available, ETHOSU_SEMAPHORE_WAIT_FOREVER);
    ethosu_mutex_unlock(ethosu_mutex);
    ethosu_semaphore_destroy(drv->semaphore);
}

int ethosu_soft_reset(struct ethosu_driver *drv)
{
    if (!ethosu_dev_soft_reset(&drv->dev)) {
        return -1;
    }
    ethosu_dev_set_clock_and_power(&drv->dev, drv->power_request_counter == 0);
    return 0;
}

int ethosu_request_power(struct ethosu_driver *drv)
{
    return drv->power_request_counter++ == 0 ? ethosu_soft_reset(drv) : 0;
}

void ethosu_release_power(struct ethosu_driver *drv)
{
    if (--drv->power_request_counter == 0) {
        ethosu_dev_set_clock_and_power(&drv->dev, true);
    }
}

static int run(struct ethosu_driver *drv, const uint32_t *stream, uint32_t bytes)
{
    if ((uintptr_t)stream & 15) {
        LOG_ERR("stream at %p", (const void *)stream);
        return -1;
    }
    ethosu_flush_dcache(drv->job.base_addr, drv->job.base_addr_size, drv->job.num_base_addr);
    if (ethosu_request_power(drv)) {
        return -1;
    }
    drv->job.state = ETHOSU_JOB_RUNNING;
    ethosu_inference_begin(drv, drv->job.user_arg);
    ethosu_dev_run_command_stream(&drv->dev, (const uint8_t *)stream, bytes, drv->job.base_addr,
                                  drv->job.num_base_addr);
    return 0;
}

/* Carry out the actions of a payload, each a word with what follows it. */
static int act(struct ethosu_driver *drv, const uint32_t *word, const uint32_t *end)
{
    while (word < end) {
        uint32_t stream_words = (*word >> 8 & 0xff) << 16 | *word >> 16;

        switch (*word & 0xff) {
        case 1:
            if (!ethosu_dev_is_made_for(&drv->dev, word[1], word[2])) {
                return -1;
            }
            word += 3;
            break;
        case 2:
            if (stream_words > end - word - 1 || run(drv, word + 1, stream_words * 4)) {
                return -1;
            }
            word += 1 + stream_words;
            break;
        case 5:
            word++;
            break;
        default:
            return -1;
        }
    }
    return 0;
}

int ethosu_invoke_async(struct ethosu_driver *drv, const void *custom_data_ptr, const int custom_data_size,
                        uint64_t *const base_addr, const size_t *base_addr_size, const int num_base_addr,
                        void *user_arg)
{
    const uint32_t *word = custom_data_ptr;

    if (drv->job.state != ETHOSU_JOB_IDLE || custom_data_size < 4 || custom_data_size % 4 || *word != COP1) {
        return -1;
    }
    drv->job.base_addr = base_addr;
    drv->job.base_addr_size = base_addr_size;
    drv->job.num_base_addr = num_base_addr;
    drv->job.user_arg = user_arg;
    if (act(drv, word + 1, word + custom_data_size / 4)) {
        forget_job(drv);
        return -1;
    }
    return 0;
}

int ethosu_wait(struct ethosu_driver *drv, bool block)
{
    if (drv->job.state == ETHOSU_JOB_IDLE) {
        return -2;
    }
    if (drv->job.state == ETHOSU_JOB_RUNNING && !block) {
        return 1;
    }
    if (ethosu_semaphore_take(drv->semaphore, ETHOSU_SEMAPHORE_WAIT_FOREVER)) {
        drv->job.result = ETHOSU_JOB_RESULT_TIMEOUT;
    }
    ethosu_invalidate_dcache(drv->job.base_addr, drv->job.base_addr_size, drv->job.num_base_addr);
    ethosu_inference_end(drv, drv->job.user_arg);
    ethosu_release_power(drv);
    bool failed = drv->job.result != ETHOSU_JOB_RESULT_OK;
    if (failed) {
        ethosu_soft_reset(drv);
    }
    forget_job(drv);
    return failed ? -1 : 0;
}
