#include "adapters/core_driver/core_driver.h"

#include "adapters/core_driver/variant.h"
#include "ethosu/ethosu_registers.h"
#include "platform/cache.h"
#include "platform/counters.h"
#include "platform/system.h"

#include <ethosu_driver.h>

#define NOT_SECURE 0
#define PRIVILEGED 1
#define MAX_BASES 8
#define MAX_SEMAPHORES 4 /* one for the driver's list of NPUs, one for the NPU, and as many again */

struct semaphore {
    bool is_used;
    unsigned count;
};

static struct ethosu_driver driver;
static bool is_initialised;
static uintptr_t npu;
static struct core_driver_run last;
static uint64_t deadline; /* of the wait, in ticks */
static struct semaphore semaphores[MAX_SEMAPHORES];

bool core_driver_initialise(uintptr_t registers)
{
    npu = registers;
    if (is_initialised) {
        ethosu_deinit(&driver); /* the way to make it forget a run, in every release */
    }
    is_initialised = ethosu_init(&driver, (void *)registers, NULL, 0, NOT_SECURE, PRIVILEGED) == 0;
    return is_initialised;
}

bool core_driver_start(const void *payload, size_t size, uint64_t *bases, size_t base_count)
{
    static const size_t nothing_to_maintain[MAX_BASES];

    last = (struct core_driver_run){0};
    return base_count <= MAX_BASES
           && ethosu_invoke_async(&driver, payload, (int)size, bases, nothing_to_maintain, (int)base_count,
                                  NULL)
                  == 0;
}

bool core_driver_wait(uint32_t timeout_ms, struct core_driver_run *run)
{
    deadline = deadline_in(timeout_ms);
    bool ended_well = ethosu_wait(&driver, true) == 0;
    *run = last;
    return ended_well;
}

static void keep_state(uint32_t status)
{
    last.status = status;
    last.qread = mmio_read(npu + NPU_QREAD);
}

/* The 48-bit cycle counter, which stands still. */
static uint64_t read_cycles(void)
{
    uint64_t high = mmio_read(npu + NPU_PMCCNTR_HIGH) & 0xffff;

    return high << 32 | mmio_read(npu + NPU_PMCCNTR_LOW);
}

/*
 * The hooks of the driver, whose own definitions of these are weak. Those that are not here, for mutexes and
 * for the remapping of addresses, are right as they are: there is one thread, and the NPU sees the CPU's
 * addresses.
 */

void *ethosu_semaphore_create(void)
{
    for (size_t i = 0; i < MAX_SEMAPHORES; i++) {
        if (!semaphores[i].is_used) {
            semaphores[i] = (struct semaphore){.is_used = true};
            return &semaphores[i];
        }
    }
    return NULL;
}

void ethosu_semaphore_destroy(void *sem)
{
    struct semaphore *semaphore = sem;

    semaphore->is_used = false;
}

int ethosu_semaphore_give(void *sem)
{
    struct semaphore *semaphore = sem;

    semaphore->count++;
    return 0;
}

/* Nothing but the interrupt of the NPU gives a semaphore while somebody waits for it. */
int ethosu_semaphore_take(void *sem, uint64_t timeout)
{
    struct semaphore *semaphore = sem;

    while (semaphore->count == 0) {
        uint32_t status = mmio_read(npu + NPU_STATUS);
        if (!(status & STATUS_RUNNING) && (status & STATUS_IRQ_RAISED)) {
            barrier_all(); /* no read of the results before this one of the status */
            keep_state(status);
            ethosu_irq_handler(&driver);
        } else if (timeout == 0 || deadline_passed(deadline)) {
            keep_state(status);
            last.timed_out = true;
            return -1;
        }
    }
    semaphore->count--;
    return 0;
}

/* The driver has just reset the NPU, and its counters with it; the next write of CMD starts the run. */
void ethosu_inference_begin(struct ethosu_driver *drv, void *user_arg)
{
    (void)drv;
    (void)user_arg;
    mmio_write(npu + NPU_PMCNTENSET, PMCNTEN_CYCLES);
    mmio_write(npu + NPU_PMCR, PMCR_COUNT_ENABLE | PMCR_CYCLE_RESET);
    mmio_write(npu + NPU_CMD, CMD_CLOCK_Q_ENABLE); /* so that the counter stands still at the end */
    barrier_all(); /* what the CPU wrote is in memory before the NPU starts to read */
}

void ethosu_inference_end(struct ethosu_driver *drv, void *user_arg)
{
    (void)drv;
    (void)user_arg;
    mmio_write(npu + NPU_PMCNTENCLR, PMCNTEN_CYCLES);
    last.cycles = read_cycles();
}

/* A range of no bytes has no line, wherever it begins. */
void core_driver_clean(uint32_t *p, size_t bytes)
{
    last.cleaned += bytes == 0 ? 0 : cache_clean(p, bytes);
}

void core_driver_invalidate(uint32_t *p, size_t bytes)
{
    last.invalidated += bytes == 0 ? 0 : cache_invalidate(p, bytes);
}

void core_driver_clean_ranges(const uint64_t *base_addr, const size_t *base_addr_size, int num_base_addr)
{
    for (int i = 0; i < num_base_addr; i++) {
        core_driver_clean((uint32_t *)(uintptr_t)base_addr[i], base_addr_size[i]);
    }
}

void core_driver_invalidate_ranges(const uint64_t *base_addr, const size_t *base_addr_size, int num_base_addr)
{
    for (int i = 0; i < num_base_addr; i++) {
        core_driver_invalidate((uint32_t *)(uintptr_t)base_addr[i], base_addr_size[i]);
    }
}
