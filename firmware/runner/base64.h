/* Base64 (RFC 4648, section 4), with padding. */
#ifndef RUNNER_BASE64_H
#define RUNNER_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Characters that `size` bytes become. */
#define BASE64_LENGTH(size) (((size) + 2) / 3 * 4)

/* Encode `size` bytes into BASE64_LENGTH(size) characters at `text`; no terminator is added. */
void base64_encode(const uint8_t *bytes, size_t size, char *text);

#endif
