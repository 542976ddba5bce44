/* SHA-256 (FIPS 180-4). */
#ifndef RUNNER_SHA256_H
#define RUNNER_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BLOCK_BYTES 64
#define SHA256_WORDS 8

/* A digest; its first word holds its first four bytes, the first of them as the most significant. */
struct sha256 {
    uint32_t words[SHA256_WORDS];
};

/* A message that is still being read. */
struct sha256_state {
    struct sha256 hash;
    uint64_t size; /* bytes so far */
    uint8_t block[SHA256_BLOCK_BYTES];
};

/* Begin a message, add bytes to it, and finish it: the digest of all of them. */
void sha256_begin(struct sha256_state *state);
void sha256_add(struct sha256_state *state, const void *bytes, size_t size);
struct sha256 sha256_finish(struct sha256_state *state);

#endif
