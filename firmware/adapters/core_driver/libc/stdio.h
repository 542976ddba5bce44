/* For the core driver: declarations that its log refers to, and no definitions, as it is compiled without it.
 */
#ifndef LIBC_STDIO_H
#define LIBC_STDIO_H

#include <stddef.h>

typedef struct file FILE;

extern FILE *const stdout, *const stderr;

int fprintf(FILE *stream, const char *format, ...);

#endif
