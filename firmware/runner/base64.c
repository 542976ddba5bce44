#include "runner/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const uint8_t *bytes, size_t size, char *text)
{
    for (size_t at = 0; at < size; at += 3, text += 4) {
        size_t left = size - at;
        uint32_t group = (uint32_t)bytes[at] << 16;
        if (left > 1) {
            group |= (uint32_t)bytes[at + 1] << 8;
        }
        if (left > 2) {
            group |= bytes[at + 2];
        }
        text[0] = alphabet[group >> 18];
        text[1] = alphabet[group >> 12 & 63];
        text[2] = left > 1 ? alphabet[group >> 6 & 63] : '=';
        text[3] = left > 2 ? alphabet[group & 63] : '=';
    }
}
