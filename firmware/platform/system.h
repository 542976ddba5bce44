/* Access to the processor and to devices: system registers, barriers, memory-mapped registers. */
#ifndef PLATFORM_SYSTEM_H
#define PLATFORM_SYSTEM_H

#include <stdint.h>

/* The value of a 64-bit system register, named without quotes: system_read(ctr_el0). */
#define system_read(name)                                         \
    __extension__({                                               \
        uint64_t system_value_;                                   \
        __asm__ volatile("mrs %0, " #name : "=r"(system_value_)); \
        system_value_;                                            \
    })

/* Write a 64-bit system register. The caller adds the barrier that makes it take effect. */
#define system_write(name, value) __asm__ volatile("msr " #name ", %0" ::"r"((uint64_t)(value)) : "memory")

/* Instructions after this see the effects of all system register writes before it. */
static inline void barrier_instructions(void)
{
    __asm__ volatile("isb" ::: "memory");
}

/* All memory accesses and cache operations before this are complete before any after it, for everyone. */
static inline void barrier_all(void)
{
    __asm__ volatile("dsb sy" ::: "memory");
}

/* Read a 32-bit device register. */
static inline uint32_t mmio_read(uintptr_t address)
{
    return *(const volatile uint32_t *)address;
}

/* Write a 32-bit device register. Order against normal memory is the caller's: see barrier_all(). */
static inline void mmio_write(uintptr_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

/* Stop for good, waiting for interrupts that never come. */
_Noreturn void halt(void);

#endif
