/*
 * Record lines: "@h1 <seq> <type> key=value ... *<crc32>", at most RECORD_MAX characters of printable ASCII.
 *
 * A record is begun, given its fields, and sent. Fields common to all lines of a record come first; when a
 * later field does not fit, the line is sent and a new one begun with the same common fields, so no record is
 * ever cut.
 */
#ifndef RUNNER_RECORD_H
#define RUNNER_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define RECORD_MAX 120

struct record {
    char text[RECORD_MAX];
    size_t length; /* characters so far */
    size_t common; /* characters of the fields that every line repeats */
    const char *type;
};

/* Begin a record of this type. */
void record_begin(struct record *record, const char *type);

/*
 * All fields so far are common: they are repeated should the record need more lines. With any one field more
 * they must fit a line; what does not is a trap.
 */
void record_common(struct record *record);

/* Add a field whose value is text without spaces, a decimal number, or a hexadecimal one without prefix. */
void record_text(struct record *record, const char *key, const char *value);
void record_decimal(struct record *record, const char *key, uint64_t value);
void record_hex(struct record *record, const char *key, uint64_t value);

/* Add as many of `size` bytes as fit, in base64, under `key`; returns how many. */
size_t record_bytes(struct record *record, const char *key, const uint8_t *bytes, size_t size);

/* Add the checksum and send the line to the console. */
void record_send(struct record *record);

#endif
