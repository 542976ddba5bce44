#include "runner/sha256.h"

#include "platform/bytes.h"

#define ROUNDS 64
#define LENGTH_BYTES 8 /* of the message's length, at the end of the last block */

static const uint32_t round_constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const struct sha256 first_hash = {
    {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};

static uint32_t rotate(uint32_t value, unsigned bits)
{
    return value >> bits | value << (32 - bits);
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The block's words, and those that they are expanded to: the message schedule. */
static void expand(const uint8_t block[SHA256_BLOCK_BYTES], uint32_t schedule[ROUNDS])
{
    for (unsigned i = 0; i < SHA256_BLOCK_BYTES / 4; i++) {
        schedule[i] = big_endian(block + 4 * i);
    }
    for (unsigned i = SHA256_BLOCK_BYTES / 4; i < ROUNDS; i++) {
        uint32_t older = schedule[i - 15];
        uint32_t newer = schedule[i - 2];
        uint32_t sigma_0 = rotate(older, 7) ^ rotate(older, 18) ^ older >> 3;
        uint32_t sigma_1 = rotate(newer, 17) ^ rotate(newer, 19) ^ newer >> 10;
        schedule[i] = schedule[i - 16] + sigma_0 + schedule[i - 7] + sigma_1;
    }
}

static void take_block(struct sha256 *hash, const uint8_t block[SHA256_BLOCK_BYTES])
{
    uint32_t schedule[ROUNDS];
    struct sha256 now = *hash;
    uint32_t *w = now.words; /* a to h of the standard */

    expand(block, schedule);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t sum_1 = rotate(w[4], 6) ^ rotate(w[4], 11) ^ rotate(w[4], 25);
        uint32_t choice = (w[4] & w[5]) ^ (~w[4] & w[6]);
        uint32_t first = w[7] + sum_1 + choice + round_constants[i] + schedule[i];
        uint32_t sum_0 = rotate(w[0], 2) ^ rotate(w[0], 13) ^ rotate(w[0], 22);
        uint32_t majority = (w[0] & w[1]) ^ (w[0] & w[2]) ^ (w[1] & w[2]);
        for (unsigned j = SHA256_WORDS - 1; j > 0; j--) {
            w[j] = w[j - 1];
        }
        w[4] += first;
        w[0] = first + sum_0 + majority;
    }
    for (unsigned j = 0; j < SHA256_WORDS; j++) {
        hash->words[j] += w[j];
    }
}

void sha256_begin(struct sha256_state *state)
{
    state->hash = first_hash;
    state->size = 0;
}

void sha256_add(struct sha256_state *state, const void *bytes, size_t size)
{
    const uint8_t *byte = bytes;

    while (size != 0) {
        size_t filled = (size_t)(state->size % SHA256_BLOCK_BYTES);
        size_t room = SHA256_BLOCK_BYTES - filled;
        size_t count = size < room ? size : room;
        memcpy(state->block + filled, byte, count);
        state->size += count;
        byte += count;
        size -= count;
        if (count == room) {
            take_block(&state->hash, state->block);
        }
    }
}

struct sha256 sha256_finish(struct sha256_state *state)
{
    static const uint8_t padding[SHA256_BLOCK_BYTES] = {0x80};
    uint64_t bits = state->size * 8;
    uint8_t length[LENGTH_BYTES];
    size_t filled = (size_t)(state->size % SHA256_BLOCK_BYTES);
    size_t pad = (filled < SHA256_BLOCK_BYTES - LENGTH_BYTES ? SHA256_BLOCK_BYTES : 2 * SHA256_BLOCK_BYTES)
                 - LENGTH_BYTES - filled;

    for (unsigned i = 0; i < LENGTH_BYTES; i++) {
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    sha256_add(state, padding, pad);
    sha256_add(state, length, sizeof length);
    return state->hash;
}
