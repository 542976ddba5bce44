/* For the core driver: memory that its own semaphores would take. The adapter's take their place, and none.
 */
#ifndef LIBC_STDLIB_H
#define LIBC_STDLIB_H

#include <stddef.h>

/* NULL, always: there is no heap for drivers. */
void *malloc(size_t size);
void free(void *address);

#endif
