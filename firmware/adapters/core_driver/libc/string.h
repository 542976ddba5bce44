/* For the core driver: the functions that the firmware has, and one that only a log would call. */
#ifndef LIBC_STRING_H
#define LIBC_STRING_H

#include "platform/bytes.h"

char *strrchr(const char *text, int character);

#endif
