#include "ethosu/ethosu_payload.h"

/* Words of COP1: the action in the lowest byte, of a stream the number of words in the three others. */
#define ACTION(word) ((word) & 0xff)
#define ACTION_CONFIG 1 /* CONFIG and ID follow */
#define ACTION_STREAM 2 /* the stream follows, to the end */
#define ACTION_NOP 5    /* pads */
#define STREAM_WORDS(word) ((word) >> 16 | ((word) >> 8 & 0xff) << 16)

static bool read_cop1(const uint32_t *words, size_t count, struct ethosu_payload *payload)
{
    bool has_config = false;

    for (size_t i = 1; i < count; i++) {
        switch (ACTION(words[i])) {
        case ACTION_CONFIG:
            if (count - i < 3) {
                return false;
            }
            payload->config = words[i + 1];
            payload->architecture = words[i + 2];
            has_config = true;
            i += 2;
            break;
        case ACTION_STREAM:
            payload->start = (i + 1) * PAYLOAD_WORD_BYTES;
            payload->size = (size_t)STREAM_WORDS(words[i]) * PAYLOAD_WORD_BYTES;
            return has_config && STREAM_WORDS(words[i]) == count - i - 1;
        case ACTION_NOP:
            break;
        default:
            return false;
        }
    }
    return false;
}

/* Whether the header is one of a single command stream. */
static bool is_acceptable(const uint32_t *words, size_t size)
{
    return size >= PAYLOAD_LEAST_METADATA_END && VERSION_MAJOR(words[PAYLOAD_VERSION]) == 1
           && words[PAYLOAD_BYTES_HIGH] == 0 && words[PAYLOAD_BYTES_LOW] == size - PAYLOAD_ACTIONS_START
           && words[PAYLOAD_ENTRY_TYPE] == ENTRY_COMMAND_STREAM
           && words[PAYLOAD_ENTRY_BYTES] == size - PAYLOAD_ENTRY_START
           && words[PAYLOAD_METADATA_FOURCC] == FOURCC_VEUM
           && VERSION_MAJOR(words[PAYLOAD_METADATA_VERSION]) == 1
           && (words[PAYLOAD_FEATURES] == FEATURES_SEPARATE_IO
               || words[PAYLOAD_FEATURES] == FEATURES_IO_IN_SCRATCH);
}

static bool read_cop2(const uint32_t *words, size_t size, struct ethosu_payload *payload)
{
    if (!is_acceptable(words, size)) {
        return false;
    }
    payload->start = (size_t)PAYLOAD_METADATA_START + words[PAYLOAD_METADATA_BYTES];
    if (payload->start < PAYLOAD_LEAST_METADATA_END || payload->start >= size) {
        return false;
    }
    payload->size = size - payload->start;
    payload->config = words[PAYLOAD_CONFIG];
    payload->architecture = words[PAYLOAD_ARCHITECTURE];
    return true;
}

bool ethosu_payload_read(const uint32_t *words, size_t size, struct ethosu_payload *payload)
{
    if (size < PAYLOAD_WORD_BYTES || size % PAYLOAD_WORD_BYTES != 0) {
        return false;
    }
    switch (words[PAYLOAD_FOURCC]) {
    case FOURCC_COP1:
        return read_cop1(words, size / PAYLOAD_WORD_BYTES, payload);
    case FOURCC_COP2:
        return read_cop2(words, size, payload);
    default:
        return false;
    }
}
