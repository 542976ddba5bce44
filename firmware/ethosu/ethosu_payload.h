/*
 * The driver payload around a command stream, in either of Vela's formats: COP1, as the operator of TensorFlow
 * Lite and the delegate of ExecuTorch have it, and COP2 of direct drive.
 *
 * Source: Vela 5.2, regor/tflite/custom_operator_ethosu.hpp.
 */
#ifndef ETHOSU_PAYLOAD_H
#define ETHOSU_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of a COP2 payload that holds one command stream. */
enum {
    PAYLOAD_FOURCC = 0,
    PAYLOAD_VERSION = 1,   /* major in the low half */
    PAYLOAD_BYTES_LOW = 2, /* bytes that follow word 3 */
    PAYLOAD_BYTES_HIGH = 3,
    PAYLOAD_ENTRY_TYPE = 4,
    PAYLOAD_ENTRY_BYTES = 5,    /* bytes that follow this word */
    PAYLOAD_METADATA_BYTES = 6, /* bytes that follow this word, up to the stream */
    PAYLOAD_METADATA_FOURCC = 7,
    PAYLOAD_METADATA_VERSION = 8,
    PAYLOAD_CONFIG = 10,
    PAYLOAD_ARCHITECTURE = 11,
    PAYLOAD_FEATURES = 12,
    PAYLOAD_LEAST_STREAM = 16, /* where the stream starts when it is aligned and the metadata is the least */
};

#define PAYLOAD_WORD_BYTES ((uint32_t)4)
/* Bytes from the start of the payload to where each of its lengths begins to count. */
#define PAYLOAD_ACTIONS_START (4 * PAYLOAD_WORD_BYTES)
#define PAYLOAD_ENTRY_START (6 * PAYLOAD_WORD_BYTES)
#define PAYLOAD_METADATA_START (7 * PAYLOAD_WORD_BYTES)
#define PAYLOAD_LEAST_METADATA_END (15 * PAYLOAD_WORD_BYTES)

#define FOURCC_COP1 UINT32_C(0x31504f43)
#define FOURCC_COP2 UINT32_C(0x32504f43)
#define FOURCC_VEUM UINT32_C(0x4d554556)
#define VERSION_MAJOR(version) ((version) & 0xffff)
#define ENTRY_COMMAND_STREAM 1
#define FEATURES_IO_IN_SCRATCH 1
#define FEATURES_SEPARATE_IO 2
#define COMMAND_STOP UINT32_C(0xffff0000)

/* What a payload says: where its stream is, and which NPU that is for. */
struct ethosu_payload {
    size_t start; /* bytes from the start of the payload */
    size_t size;  /* bytes of the stream, whole words */
    uint32_t config;
    uint32_t architecture;
};

/* Read a payload of `size` bytes. False when it has a shape that the driver does not run. */
bool ethosu_payload_read(const uint32_t *words, size_t size, struct ethosu_payload *payload);

#endif
