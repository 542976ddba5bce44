/*
 * The firmware's portable modules on the host: what stands in for the platform, and a flat surface for
 * Python.
 *
 * There is one DMA pool of 4096 bytes, one device and one batch. The console is a buffer; the caches and the
 * MMU do nothing.
 */

#include "ethosu/ethosu_buffer.h"
#include "platform/bytes.h"
#include "platform/cache.h"
#include "platform/mmu.h"
#include "platform/uart.h"
#include "runner/record.h"
#include "runner/sha256.h"

static uint8_t memory[4096] __attribute__((aligned(4096)));
static struct ethosu_device device;
static struct ethosu_batch batch;
static struct record record;

const char identity_nonce[] = "0123456789abcdef";
char console[65536];
size_t console_length;

size_t cache_line_bytes(void)
{
    return 64;
}

size_t cache_clean(const void *address, size_t size)
{
    (void)address;
    return size;
}

size_t cache_invalidate(void *address, size_t size)
{
    (void)address;
    return size;
}

size_t mmu_map(uintptr_t address, size_t size)
{
    (void)address;
    return size / MMU_PAGE_BYTES;
}

size_t mmu_unmap(uintptr_t address, size_t size)
{
    (void)address;
    return size / MMU_PAGE_BYTES;
}

bool ethosu_device_must_fail(struct ethosu_device *asked)
{
    (void)asked;
    return false;
}

void uart_write(const char *bytes, size_t count)
{
    memcpy(console + console_length, bytes, count);
    console_length += count;
}

void host_reset(void)
{
    memset(memory, 0xa5, sizeof memory);
    device.zero_on_destroy = true;
    device.pool_zeroed_end = (uintptr_t)memory;
    ethosu_ledger_clear(&device.ledger);
    batch = (struct ethosu_batch){0};
    pool_initialise(&device.pool, (uintptr_t)memory, sizeof memory);
    console_length = 0;
}

/* Let the pool have `size` bytes, most of which are no memory: only its bookkeeping can be tried. */
void host_pretend_size(size_t size)
{
    pool_initialise(&device.pool, (uintptr_t)memory, size);
}

const uint8_t *host_memory(void)
{
    return memory;
}

size_t host_used(void)
{
    return device.pool.used;
}

/* Offset of the block in the pool, or the negative pool_error. */
long host_take(size_t size, size_t alignment)
{
    struct pool_block block;
    enum pool_error error = pool_take(&device.pool, size, alignment, &block);

    return error == POOL_OK ? (long)(block.address - (uintptr_t)memory) : -(long)error;
}

void host_give_back(size_t offset)
{
    struct pool_block block = {.address = (uintptr_t)memory + offset};

    pool_give_back(&device.pool, &block);
}

const char *host_batch_create(const size_t *sizes, size_t count)
{
    return ethosu_error_name(ethosu_batch_create(&device, sizes, count, ETHOSU_ALWAYS_MAPPED, &batch));
}

size_t host_batch_offset(size_t index)
{
    return ethosu_batch_address(&batch) - (uintptr_t)memory + batch.buffers[index].offset;
}

const char *host_write(size_t index, const void *from, size_t size)
{
    return ethosu_error_name(ethosu_buffer_write(&batch, index, from, size));
}

size_t host_read(size_t index, void *to, size_t size)
{
    return ethosu_buffer_read(&batch, index, to, size);
}

void host_rewind(void)
{
    ethosu_batch_rewind(&batch);
}

void host_destroy(void)
{
    ethosu_batch_destroy(&batch);
}

void host_record_begin(const char *type)
{
    record_begin(&record, type);
}

void host_record_common(void)
{
    record_common(&record);
}

void host_record_decimal(const char *key, uint64_t value)
{
    record_decimal(&record, key, value);
}

size_t host_record_bytes(const char *key, const uint8_t *bytes, size_t size)
{
    return record_bytes(&record, key, bytes, size);
}

void host_record_send(void)
{
    record_send(&record);
}

void host_sha256(const uint8_t *bytes, size_t size, size_t first, uint32_t words[SHA256_WORDS])
{
    struct sha256_state state;

    sha256_begin(&state);
    sha256_add(&state, bytes, first);
    sha256_add(&state, bytes + first, size - first);
    struct sha256 digest = sha256_finish(&state);
    memcpy(words, digest.words, sizeof digest.words);
}
