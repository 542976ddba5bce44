/* A log that refers to the C library even when it is off, as Arm's does. */
#ifndef ETHOSU_LOG_H
#define ETHOSU_LOG_H

#include <stdio.h>
#include <string.h>

#if ETHOSU_LOG_ENABLE
#define LOG_ERR(f, ...) fprintf(stderr, "E: " f "\n", ##__VA_ARGS__)
#else
#define LOG_ERR(f, ...) \
    if (0)              \
    fprintf(stderr, "E: %s: " f "\n", strrchr("/" __FILE__, '/') + 1, ##__VA_ARGS__)
#endif

#endif
