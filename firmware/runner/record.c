#include "runner/record.h"

#include "platform/bytes.h"
#include "platform/uart.h"
#include "runner/base64.h"
#include "runner/crc32.h"
#include "runner/plan.h"

#define CHECKSUM_LENGTH 10 /* " *" and eight digits */
#define FIELDS_END (RECORD_MAX - CHECKSUM_LENGTH)
#define MAX_DIGITS 20 /* of a 64-bit number in decimal */

static uint32_t next_sequence;

static size_t text_length(const char *text)
{
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    return length;
}

static void append(struct record *record, const char *text, size_t length)
{
    memcpy(record->text + record->length, text, length);
    record->length += length;
}

/* Write `value` in `base` so that it ends before `end`; returns its first digit. */
static char *write_digits(char *end, uint64_t value, unsigned base)
{
    do {
        *--end = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    return end;
}

static void append_digits(struct record *record, uint64_t value, unsigned base)
{
    char digits[MAX_DIGITS];
    char *first = write_digits(digits + sizeof digits, value, base);

    append(record, first, (size_t)(digits + sizeof digits - first));
}

static void begin_line(struct record *record)
{
    record->length = 0;
    append(record, "@h1 ", 4);
    append_digits(record, next_sequence, 10);
    append(record, " ", 1);
    append(record, record->type, text_length(record->type));
}

/* Send a line that is full and begin the next with the common fields. */
static void continue_on_next_line(struct record *record)
{
    char common[RECORD_MAX];
    size_t start = record->length;

    begin_line(record); /* only to learn how long "@h1 <seq> <type>" is */
    size_t header = record->length;
    size_t length = record->common - header;
    memcpy(common, record->text + header, length);
    record->length = start;
    record_send(record);
    begin_line(record);
    append(record, common, length);
    record->common = record->length;
}

/* Append " key=value", on a new line when this one has no room for it. */
static void append_field(struct record *record, const char *key, const char *value, size_t value_length)
{
    size_t key_length = text_length(key);

    if (record->length + 2 + key_length + value_length > FIELDS_END) {
        continue_on_next_line(record);
        if (record->length + 2 + key_length + value_length > FIELDS_END) {
            __builtin_trap();
        }
    }
    append(record, " ", 1);
    append(record, key, key_length);
    append(record, "=", 1);
    append(record, value, value_length);
}

void record_begin(struct record *record, const char *type)
{
    record->type = type;
    begin_line(record);
    record->common = record->length;
}

void record_common(struct record *record)
{
    record->common = record->length;
}

void record_text(struct record *record, const char *key, const char *value)
{
    append_field(record, key, value, text_length(value));
}

static void append_number_field(struct record *record, const char *key, uint64_t value, unsigned base)
{
    char digits[MAX_DIGITS];
    char *first = write_digits(digits + sizeof digits, value, base);

    append_field(record, key, first, (size_t)(digits + sizeof digits - first));
}

void record_decimal(struct record *record, const char *key, uint64_t value)
{
    append_number_field(record, key, value, 10);
}

void record_hex(struct record *record, const char *key, uint64_t value)
{
    append_number_field(record, key, value, 16);
}

size_t record_bytes(struct record *record, const char *key, const uint8_t *bytes, size_t size)
{
    char encoded[RECORD_MAX];
    size_t room = FIELDS_END - record->length - 2 - text_length(key);
    size_t fitting = room / 4 * 3;
    size_t count = size < fitting ? size : fitting;

    base64_encode(bytes, count, encoded);
    append_field(record, key, encoded, BASE64_LENGTH(count));
    return count;
}

void record_send(struct record *record)
{
    static const char line_end[2] = {'\r', '\n'};
    char checksum[CHECKSUM_LENGTH] = {' ', '*', '0', '0', '0', '0', '0', '0', '0', '0'};

    uint32_t crc = crc32(0, identity_nonce, text_length(identity_nonce)); /* no other run has these */

    crc = crc32(crc, record->text, record->length);
    write_digits(checksum + sizeof checksum, crc, 16);
    uart_write(record->text, record->length);
    uart_write(checksum, sizeof checksum);
    uart_write(line_end, sizeof line_end);
    next_sequence++;
}
