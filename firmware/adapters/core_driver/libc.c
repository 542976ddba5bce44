/* What the core driver links against and never calls: see libc/stdlib.h. */

#include "adapters/core_driver/libc/stdlib.h"

void *malloc(size_t size)
{
    (void)size;
    return NULL;
}

void free(void *address)
{
    (void)address;
}
