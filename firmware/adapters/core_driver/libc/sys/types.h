/* For the core driver, which includes it for ssize_t. */
#ifndef LIBC_SYS_TYPES_H
#define LIBC_SYS_TYPES_H

#include <stddef.h>

typedef ptrdiff_t ssize_t;

#endif
