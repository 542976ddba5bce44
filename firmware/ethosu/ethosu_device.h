/*
 * The NPU itself: probe, reset, run a command stream, wait for it, count its cycles.
 *
 * One stream runs at a time. After a fault, a timeout or a stop the device is reset, and can be used again.
 */
#ifndef ETHOSU_DEVICE_H
#define ETHOSU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ethosu/ethosu_error.h"
#include "ethosu/ethosu_ledger.h"
#include "memory/pool.h"

#define ETHOSU_REGIONS 5 /* 0 weights, 1 scratch, 2 NPU SRAM, 3 inputs, 4 outputs */

/* What driver calls have done since the counts were last cleared. */
struct ethosu_counts {
    uint32_t networks; /* objects created */
    uint32_t buffers;
    uint32_t inferences;
    uint32_t memories; /* blocks of the pool taken for these */
    uint32_t maps; /* memories mapped for the CPU */
    uint32_t unmaps;
    uint32_t driver_maps; /* the same by the driver itself: see ethosu_memory.h */
    uint32_t driver_unmaps;
    uint32_t pages;  /* page table entries written for these */
    uint32_t tlb;    /* TLB operations */
    uint64_t copied; /* bytes */
    uint64_t zeroed;
    uint64_t cleaned; /* bytes of whole cache lines */
    uint64_t invalidated;
};

struct ethosu_device {
    uintptr_t base;            /* its registers */
    uintptr_t sram_base;       /* its own memory, behind the SRAM port */
    size_t sram_size;          /* bytes */
    struct pool pool;          /* where networks and buffers live */
    uintptr_t pool_zeroed_end; /* pool memory from here on has never been used, and may hold anything */
    uint32_t id;               /* the ID register */
    uint32_t config;           /* the CONFIG register: compare with a stream's CONFIG word */
    bool running;
    bool zero_on_destroy;  /* see struct ethosu_platform */
    uint32_t fault_status; /* STATUS and QREAD at the last fault or timeout */
    uint32_t fault_qread;
    const char *misaligned; /* what stood at the last address that was misaligned */
    uintptr_t misaligned_address;
    struct ethosu_ledger ledger;  /* what exists now */
    struct ethosu_origin origin;  /* for what is created next: the caller's to set */
    uint32_t calls_until_failure; /* see ethosu_device_must_fail(): the caller's to set */
    struct ethosu_counts counts;
};

/* The memory that an NPU and its driver use. Addresses are physical, sizes in bytes. */
struct ethosu_platform {
    uintptr_t registers;
    uintptr_t sram_base;
    size_t sram_size;
    uintptr_t pool_base;
    size_t pool_size;
    bool zero_on_destroy; /* memory is cleared, as Linux does, and not left as it is when it is given back */
};

/* Find the NPU, reset it, and fill in `device`. ETHOSU_NO_NPU or ETHOSU_RESET_FAILED: it cannot be used. */
enum ethosu_error ethosu_device_probe(struct ethosu_device *device, const struct ethosu_platform *platform);

/* Reset the NPU, whatever it was doing, and set it up to run. ETHOSU_RESET_FAILED: it did not come back. */
enum ethosu_error ethosu_device_reset(struct ethosu_device *device);

/*
 * Forget all objects, whether they were destroyed or not, and make the pool as new. Nothing may be running.
 */
void ethosu_device_forget_objects(struct ethosu_device *device);

/* Whether an address suits the NPU; if not, remember it under the name of what stands there. */
bool ethosu_device_is_aligned(struct ethosu_device *device, const char *what, uintptr_t address);

/* The same of all that a stream is started with. A region that is not used has the address 0. */
bool ethosu_device_are_aligned(struct ethosu_device *device, uintptr_t stream,
                               const uintptr_t regions[ETHOSU_REGIONS]);

/*
 * Whether the call that asks is one that the test at hand makes fail, with ETHOSU_INJECTED. Every function
 * that creates or maps something asks once, before it does anything; `calls_until_failure` counts down with
 * each, and the one that reaches 0 fails. At 0 none does.
 */
bool ethosu_device_must_fail(struct ethosu_device *device);

/*
 * Start a command stream of `size` bytes at `stream`, with these base addresses; its cycle counter starts at
 * 0. The caller has cleaned everything that the NPU will read. ETHOSU_BUSY when a stream is running, or has
 * ended without anybody having waited for it. ETHOSU_MISALIGNED: `misaligned` and its address say what is not
 * at a multiple of 16.
 */
enum ethosu_error ethosu_device_start(struct ethosu_device *device, uintptr_t stream, size_t size,
                                      const uintptr_t regions[ETHOSU_REGIONS]);

/*
 * Wait for the stream to end, at most `timeout_ms` of board time, by polling.
 * ETHOSU_OK: it ended well, and `*cycles` is what it took. ETHOSU_NPU_FAULT, ETHOSU_TIMED_OUT: fault_status
 * and fault_qread say more; after a fault the device has been reset, after a timeout the stream is still
 * running. ETHOSU_NO_CYCLES: it ended well but its cycle counter stood still. ETHOSU_RESET_FAILED: after a
 * fault.
 */
enum ethosu_error ethosu_device_wait(struct ethosu_device *device, uint32_t timeout_ms, uint64_t *cycles);

/* Zero the NPU's own memory, which the stream that ran last has used. */
void ethosu_device_clear_sram(struct ethosu_device *device);

#endif
