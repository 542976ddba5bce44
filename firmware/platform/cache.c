#include "platform/cache.h"

#include <stdint.h>

#include "platform/system.h"

/* One loop for each operation: the operation is part of the instruction, so it cannot be an argument. */
#define for_each_line(operation, address, size)                             \
    __extension__({                                                         \
        size_t line_ = cache_line_bytes();                                  \
        uintptr_t first_ = (uintptr_t)(address) & ~(uintptr_t)(line_ - 1);  \
        uintptr_t end_ = (uintptr_t)(address) + (size);                     \
        uintptr_t at_ = first_;                                             \
        for (; at_ < end_; at_ += line_) {                                  \
            __asm__ volatile("dc " operation ", %0" ::"r"(at_) : "memory"); \
        }                                                                   \
        barrier_all();                                                      \
        (size_t)(at_ - first_);                                             \
    })

size_t cache_line_bytes(void)
{
    return (size_t)4 << ((system_read(ctr_el0) >> 16) & 15);
}

size_t cache_clean(const void *address, size_t size)
{
    return for_each_line("cvac", address, size);
}

size_t cache_invalidate(void *address, size_t size)
{
    return for_each_line("ivac", address, size);
}

size_t cache_clean_invalidate(void *address, size_t size)
{
    return for_each_line("civac", address, size);
}
