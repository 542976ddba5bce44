/*
 * The checks of heap and temporary allocator, in place of the runner's main(): one record for each.
 *
 * A check is a function that returns 0, or the number of the line whose expectation does not hold. The heap
 * lies in the DMA pool.
 */

#include <stdbool.h>

#include "memory/heap.h"
#include "memory/temp.h"
#include "platform.h"
#include "platform/bytes.h"
#include "platform/uart.h"
#include "runner/record.h"
#include "runner/report.h"

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define ROUNDS 1000
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define EXPECT(condition)    \
    do {                     \
        if (!(condition)) {  \
            return __LINE__; \
        }                    \
    } while (0)

static struct heap heap;
static struct temp temp;

static void begin(enum temp_kind kind, size_t heap_size, size_t max_size)
{
    heap_initialise(&heap, (void *)DMA_POOL_BASE, heap_size);
    temp_initialise(&temp, kind, &heap, max_size);
}

static void *allocate(size_t size)
{
    return temp_allocate(&temp, size, TEMP_CACHE_ALIGNMENT);
}

static size_t key_of(size_t size)
{
    return size + TEMP_CACHE_ALIGNMENT - 1;
}

static bool is_aligned(const void *address, size_t alignment)
{
    return (uintptr_t)address % alignment == 0;
}

static bool holds(const uint8_t *bytes, uint8_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != value) {
            return false;
        }
    }
    return true;
}

/* Whether nothing is live and all of `size` bytes are one free block again. */
static bool heap_is_whole(size_t size)
{
    struct heap other = heap;
    void *all = heap_allocate(&other, size - HEAP_UNIT);

    if (all == NULL || heap.block_count != 0 || heap.used != 0) {
        return false;
    }
    heap_free(&other, all);
    return other.first_free == heap.first_free;
}

/* ---- the heap ---- */

static int heap_blocks_start_at_multiples_of_64(void)
{
    heap_initialise(&heap, (void *)(DMA_POOL_BASE + 1), MIB);
    for (size_t size = 0; size < 200; size += 7) {
        const void *block = heap_allocate(&heap, size);
        EXPECT(block != NULL && is_aligned(block, HEAP_UNIT));
    }
    return 0;
}

static int heap_blocks_do_not_overlap(void)
{
    static const size_t sizes[] = {1, 64, 65, 1000, 128};
    uint8_t *blocks[COUNT(sizes)];

    heap_initialise(&heap, (void *)DMA_POOL_BASE, MIB);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        blocks[i] = heap_allocate(&heap, sizes[i]);
        EXPECT(blocks[i] != NULL);
        memset(blocks[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        EXPECT(holds(blocks[i], (uint8_t)i, sizes[i]));
    }
    return 0;
}

static int heap_is_as_new_whatever_the_order_of_frees(void)
{
    static const uint8_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    void *blocks[3];

    for (size_t order = 0; order < COUNT(orders); order++) {
        heap_initialise(&heap, (void *)DMA_POOL_BASE, 64 * KIB);
        for (size_t i = 0; i < 3; i++) {
            blocks[i] = heap_allocate(&heap, 100 * (i + 1));
        }
        for (size_t i = 0; i < 3; i++) {
            heap_free(&heap, blocks[orders[order][i]]);
        }
        EXPECT(heap_is_whole(64 * KIB));
    }
    return 0;
}

static int heap_reuses_the_lowest_gap_that_fits(void)
{
    heap_initialise(&heap, (void *)DMA_POOL_BASE, MIB);
    void *small = heap_allocate(&heap, 64);
    void *fence = heap_allocate(&heap, 64);
    void *large = heap_allocate(&heap, 640);
    void *second_fence = heap_allocate(&heap, 64);

    EXPECT(fence != NULL && second_fence != NULL);
    heap_free(&heap, large);
    heap_free(&heap, small);
    EXPECT(heap_allocate(&heap, 65) == large);
    EXPECT(heap_allocate(&heap, 64) == small);
    return 0;
}

static int heap_gives_null_when_full_and_can_go_on(void)
{
    static const size_t too_much[] = {4 * KIB - HEAP_UNIT + 1, SIZE_MAX - HEAP_UNIT, SIZE_MAX};

    heap_initialise(&heap, (void *)DMA_POOL_BASE, 4 * KIB);
    for (size_t i = 0; i < COUNT(too_much); i++) {
        EXPECT(heap_allocate(&heap, too_much[i]) == NULL);
    }
    void *all = heap_allocate(&heap, 4 * KIB - HEAP_UNIT);
    EXPECT(all != NULL && heap.used == 4 * KIB);
    EXPECT(heap_allocate(&heap, 0) == NULL);
    heap_free(&heap, all);
    EXPECT(heap_is_whole(4 * KIB));
    return 0;
}

static int heap_of_less_than_a_unit_is_always_full(void)
{
    static const size_t sizes[] = {0, 10, 2 * HEAP_UNIT - 2};

    for (size_t i = 0; i < COUNT(sizes); i++) {
        heap_initialise(&heap, (void *)(DMA_POOL_BASE + 1), sizes[i]);
        EXPECT(heap_allocate(&heap, 0) == NULL);
    }
    return 0;
}

static int heap_counts_blocks_bytes_and_peak(void)
{
    heap_initialise(&heap, (void *)DMA_POOL_BASE, MIB);
    void *one_unit = heap_allocate(&heap, 1);
    void *two_units = heap_allocate(&heap, HEAP_UNIT + 1);

    EXPECT(heap.block_count == 2 && heap.used == 5 * HEAP_UNIT);
    heap_free(&heap, two_units);
    EXPECT(heap.block_count == 1 && heap.used == 2 * HEAP_UNIT);
    heap_free(&heap, one_unit);
    EXPECT(heap.block_count == 0 && heap.used == 0 && heap.peak == 5 * HEAP_UNIT);
    return 0;
}

/* ---- caching: what ExecuTorch tests ---- */

static int caching_aligns_to_64_by_itself(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    for (size_t size = 16; size <= 64; size *= 2) {
        const void *block = temp_allocate(&temp, size, 1);
        EXPECT(block != NULL && is_aligned(block, 64));
    }
    EXPECT(temp.live_bytes == key_of(16) + key_of(32) + key_of(64));
    return 0;
}

static int caching_reuses_the_same_size_after_a_reset(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    const void *first = allocate(256);
    temp_reset(&temp);
    EXPECT(first != NULL && allocate(256) == first);
    EXPECT(temp.counts.allocations == 2 && temp.counts.heap_allocations == 1 && temp.counts.reused == 1);
    return 0;
}

static int caching_gives_different_sizes_different_blocks(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    const void *middle = allocate(256);
    temp_reset(&temp);
    const void *small = allocate(128);
    const void *large = allocate(512);
    EXPECT(small != NULL && middle != NULL && large != NULL);
    EXPECT(small != middle && middle != large && large != small);
    return 0;
}

static int caching_brings_back_both_blocks_of_one_size(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    const void *first = allocate(256);
    const void *second = allocate(256);
    EXPECT(first != second);
    temp_reset(&temp);
    const void *third = allocate(256);
    const void *fourth = allocate(256);
    EXPECT(third != fourth);
    EXPECT((third == first && fourth == second) || (third == second && fourth == first));
    return 0;
}

static int caching_keeps_alignments_of_64_to_512(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    for (size_t alignment = 64; alignment <= 512; alignment *= 2) {
        const void *block = temp_allocate(&temp, 256, alignment);
        EXPECT(block != NULL && is_aligned(block, alignment));
    }
    return 0;
}

static int caching_refuses_an_alignment_that_is_no_power_of_two(void)
{
    static const size_t alignments[] = {0, 5, 6, 12, 34, SIZE_MAX};

    begin(TEMP_CACHING, MIB, MIB);
    for (size_t i = 0; i < COUNT(alignments); i++) {
        EXPECT(temp_allocate(&temp, 256, alignments[i]) == NULL);
    }
    EXPECT(temp.counts.allocations == 0 && heap_is_whole(MIB));
    return 0;
}

static int caching_may_exceed_its_limit_until_the_reset(void)
{
    begin(TEMP_CACHING, MIB, KIB);
    for (size_t i = 0; i < 3; i++) {
        EXPECT(allocate(512) != NULL);
    }
    EXPECT(temp.live_bytes == 3 * key_of(512));
    return 0;
}

static int caching_gives_memory_in_every_round(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    for (size_t round = 0; round < 5; round++) {
        EXPECT(allocate(256) != NULL && allocate(512) != NULL && allocate(1024) != NULL);
        temp_reset(&temp);
    }
    EXPECT(temp.counts.heap_allocations == 3 && temp.counts.reused == 12);
    return 0;
}

static int caching_gives_memory_that_can_be_written_to_its_end(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    uint8_t *first = temp_allocate(&temp, KIB, 512);
    uint8_t *second = temp_allocate(&temp, KIB, 512);

    memset(first, 0x55, KIB);
    memset(second, 0xaa, KIB);
    EXPECT(holds(first, 0x55, KIB) && holds(second, 0xaa, KIB));
    temp_destroy(&temp);
    EXPECT(heap_is_whole(MIB));
    return 0;
}

static int caching_brings_back_blocks_of_several_sizes(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    const void *small = allocate(128);
    const void *middle = allocate(256);
    const void *large = allocate(512);
    const void *second_small = allocate(128);

    temp_reset(&temp);
    EXPECT(allocate(256) == middle && allocate(512) == large);
    const void *again = allocate(128);
    EXPECT(again == small || again == second_small);
    return 0;
}

static int caching_brings_back_a_mebibyte(void)
{
    begin(TEMP_CACHING, 4 * MIB, 10 * MIB);
    uint8_t *block = allocate(MIB);
    EXPECT(block != NULL);
    memset(block, 0xaa, MIB);
    temp_reset(&temp);
    EXPECT(allocate(MIB) == block && holds(block, 0xaa, KIB));
    return 0;
}

static int caching_does_not_share_between_100_at_256_and_100_at_512(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    const void *at_256 = temp_allocate(&temp, 100, 256);
    temp_reset(&temp);
    const void *at_512 = temp_allocate(&temp, 100, 512);
    EXPECT(at_512 != NULL && at_512 != at_256 && is_aligned(at_512, 512));
    EXPECT(temp.counts.heap_allocations == 2);
    return 0;
}

static int caching_survives_repeated_resets(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    const void *first = allocate(512);
    for (size_t round = 0; round < 3; round++) {
        temp_reset(&temp);
        temp_reset(&temp);
        EXPECT(allocate(512) == first);
    }
    return 0;
}

static int caching_frees_everything_at_a_reset_over_the_limit(void)
{
    begin(TEMP_CACHING, MIB, KIB);
    for (size_t i = 0; i < 3; i++) {
        EXPECT(allocate(512) != NULL);
    }
    temp_reset(&temp);
    EXPECT(temp.live_bytes == 0 && temp.cached_bytes == 0 && temp.counts.heap_frees == 3);
    EXPECT(heap_is_whole(MIB));
    EXPECT(allocate(512) != NULL && temp.counts.reused == 0);
    return 0;
}

static int caching_keeps_everything_at_a_reset_within_the_limit(void)
{
    begin(TEMP_CACHING, MIB, 2 * key_of(512));
    EXPECT(allocate(512) != NULL && allocate(512) != NULL);
    temp_reset(&temp);
    EXPECT(temp.live_bytes == 0 && temp.cached_bytes == 2 * key_of(512) && heap.block_count == 2);
    EXPECT(temp.counts.heap_frees == 0);
    return 0;
}

/* ---- caching: what ExecuTorch leaves untested ---- */

static int caching_gives_the_last_kept_block_first(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    const void *first = allocate(256);
    const void *second = allocate(256);
    EXPECT(first != second);
    for (size_t round = 0; round < 3; round++) {
        temp_reset(&temp);
        EXPECT(allocate(256) == first);
    }
    EXPECT(allocate(256) == second);
    return 0;
}

static int caching_gives_repeated_rounds_the_same_blocks(void)
{
    static const size_t sizes[] = {256, 4096, 256, 64, 256};
    const void *blocks[COUNT(sizes)];

    begin(TEMP_CACHING, MIB, MIB);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        blocks[i] = allocate(sizes[i]);
    }
    for (size_t round = 0; round < 3; round++) {
        temp_reset(&temp);
        for (size_t i = 0; i < COUNT(sizes); i++) {
            EXPECT(allocate(sizes[i]) == blocks[i]);
        }
    }
    return 0;
}

static int caching_shares_a_key_between_alignments(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    EXPECT(temp_allocate(&temp, 292, 64) != NULL); /* 292 + 63 = 100 + 255 */
    temp_reset(&temp);
    EXPECT(is_aligned(temp_allocate(&temp, 100, 256), 256));
    EXPECT(temp.counts.heap_allocations == 1 && temp.counts.reused == 1);
    return 0;
}

static int caching_counts_kept_blocks_towards_the_limit(void)
{
    begin(TEMP_CACHING, MIB, 2 * key_of(512) - 1);
    EXPECT(allocate(512) != NULL);
    temp_reset(&temp);
    EXPECT(temp.cached_bytes == key_of(512));
    EXPECT(allocate(512 - 1) != NULL); /* live, with the first still kept: together exactly the limit */
    temp_reset(&temp);
    EXPECT(temp.cached_bytes == 2 * key_of(512) - 1);
    EXPECT(allocate(1) != NULL);
    temp_reset(&temp);
    EXPECT(temp.cached_bytes == 0 && heap_is_whole(MIB));
    return 0;
}

static int caching_gives_size_0_an_address_of_its_own(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    const void *nothing = temp_allocate(&temp, 0, 64);
    const void *more_of_it = temp_allocate(&temp, 0, 64);
    EXPECT(nothing != NULL && more_of_it != NULL && nothing != more_of_it);
    EXPECT(temp.live_bytes == 2 * key_of(0));
    temp_reset(&temp);
    EXPECT(temp_allocate(&temp, 0, 64) == nothing);
    return 0;
}

static int caching_stays_within_its_limit_while_sizes_grow(void)
{
    const size_t limit = 8 * KIB;

    begin(TEMP_CACHING, MIB, limit);
    for (size_t size = 1; size <= 200; size++) {
        EXPECT(allocate(size) != NULL);
        temp_reset(&temp);
        EXPECT(temp.cached_bytes <= limit);
    }
    EXPECT(temp.counts.heap_allocations == 200 && temp.counts.heap_frees > 100);
    EXPECT(temp.peak > limit && temp.peak <= limit + key_of(200));
    return 0;
}

static int caching_keeps_stale_contents(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    uint8_t *block = allocate(KIB);
    memset(block, 0x5a, KIB);
    temp_reset(&temp);
    EXPECT(holds(block, 0x5a, KIB));
    EXPECT(allocate(KIB) == block && holds(block, 0x5a, KIB));
    return 0;
}

/* Run three models in turn, each with its scratch of another size; return what was taken from the heap. */
static uint64_t heap_allocations_of_three_models(size_t max_size, size_t rounds)
{
    static const size_t scratch_sizes[] = {4096, 6144, 10240};

    begin(TEMP_CACHING, MIB, max_size);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < COUNT(scratch_sizes); i++) {
            allocate(scratch_sizes[i]);
            temp_reset(&temp);
        }
    }
    return temp.counts.heap_allocations;
}

static int caching_never_hits_when_three_models_exceed_the_limit_by_a_byte(void)
{
    const size_t all = key_of(4096) + key_of(6144) + key_of(10240);

    EXPECT(heap_allocations_of_three_models(all, 10) == 3);
    EXPECT(heap_allocations_of_three_models(all - 1, 10) == 30);
    EXPECT(temp.counts.reused == 0 && temp.counts.heap_frees == 30 && heap_is_whole(MIB));
    return 0;
}

static int caching_refuses_sizes_that_overflow(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    EXPECT(temp_allocate(&temp, SIZE_MAX, 64) == NULL);
    EXPECT(temp_allocate(&temp, SIZE_MAX - 62, 64) == NULL);
    EXPECT(temp_allocate(&temp, SIZE_MAX - 63, 64) == NULL);
    EXPECT(temp_allocate(&temp, SIZE_MAX - HEAP_UNIT - 63, 64) == NULL);
    EXPECT(temp_allocate(&temp, SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1) == NULL);
    EXPECT(temp.counts.allocations == 0 && heap_is_whole(MIB));
    return 0;
}

static int caching_leaks_nothing_when_the_heap_is_full(void)
{
    size_t blocks = 0;

    begin(TEMP_CACHING, 64 * KIB, MIB);
    while (allocate(4 * KIB) != NULL) {
        blocks++;
    }
    EXPECT(blocks > 10 && temp.counts.allocations == blocks && heap.block_count == blocks);
    EXPECT(temp.live_bytes == blocks * key_of(4 * KIB) && temp.peak == temp.live_bytes);
    temp_reset(&temp);
    temp_destroy(&temp);
    EXPECT(temp.counts.heap_frees == blocks && heap_is_whole(64 * KIB));
    return 0;
}

static int caching_does_not_free_kept_blocks_for_a_full_heap(void)
{
    begin(TEMP_CACHING, 64 * KIB, MIB);
    EXPECT(allocate(48 * KIB) != NULL);
    temp_reset(&temp);
    EXPECT(allocate(32 * KIB) == NULL);
    EXPECT(temp.cached_bytes == key_of(48 * KIB) && allocate(48 * KIB) != NULL);
    return 0;
}

static int caching_destroy_gives_back_live_and_kept_blocks_once(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    EXPECT(allocate(100) != NULL && allocate(200) != NULL);
    temp_reset(&temp);
    EXPECT(allocate(100) != NULL && allocate(300) != NULL);
    temp_destroy(&temp);
    EXPECT(temp.counts.heap_frees == 3 && temp.live_bytes == 0 && temp.cached_bytes == 0);
    EXPECT(heap_is_whole(MIB));
    temp_destroy(&temp);
    EXPECT(temp.counts.heap_frees == 3);
    return 0;
}

static int caching_peak_is_flat_over_1000_rounds(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    for (size_t round = 0; round < ROUNDS; round++) {
        EXPECT(allocate(4096) != NULL && allocate(100) != NULL);
        temp_reset(&temp);
        EXPECT(temp.peak == key_of(4096) + key_of(100));
    }
    EXPECT(temp.counts.heap_allocations == 2 && heap.block_count == 2);
    return 0;
}

/* ---- malloc ---- */

static int malloc_frees_everything_at_each_reset(void)
{
    begin(TEMP_MALLOC, MIB, MIB);
    for (size_t round = 0; round < 3; round++) {
        EXPECT(allocate(256) != NULL && allocate(256) != NULL);
        temp_reset(&temp);
        EXPECT(heap_is_whole(MIB));
    }
    EXPECT(temp.counts.heap_allocations == 6 && temp.counts.heap_frees == 6 && temp.counts.reused == 0);
    return 0;
}

static int malloc_blocks_move_where_cached_ones_stay(void)
{
    const void *before[2];
    const void *after[2];

    for (enum temp_kind kind = TEMP_MALLOC; kind <= TEMP_CACHING; kind++) {
        begin(kind, MIB, MIB);
        allocate(100);
        before[kind] = allocate(4096);
        temp_reset(&temp);
        allocate(1000);
        after[kind] = allocate(4096);
    }
    EXPECT(before[TEMP_MALLOC] != after[TEMP_MALLOC]);
    EXPECT(before[TEMP_CACHING] == after[TEMP_CACHING]);
    return 0;
}

static int malloc_adds_nothing_for_alignments_up_to_16(void)
{
    begin(TEMP_MALLOC, MIB, 0);
    for (size_t alignment = 1; alignment <= 16; alignment *= 2) {
        EXPECT(is_aligned(temp_allocate(&temp, 100, alignment), alignment));
        EXPECT(temp.live_bytes == 100);
        temp_reset(&temp);
    }
    EXPECT(is_aligned(temp_allocate(&temp, 100, 32), 32) && temp.live_bytes == 100 + 31);
    return 0;
}

static int malloc_keeps_alignments_of_64_to_512(void)
{
    begin(TEMP_MALLOC, MIB, 0);
    for (size_t alignment = 64; alignment <= 512; alignment *= 2) {
        const void *block = temp_allocate(&temp, 256, alignment);
        EXPECT(block != NULL && is_aligned(block, alignment));
    }
    return 0;
}

static int malloc_refuses_what_caching_refuses(void)
{
    begin(TEMP_MALLOC, MIB, 0);
    EXPECT(temp_allocate(&temp, 256, 0) == NULL && temp_allocate(&temp, 256, 24) == NULL);
    EXPECT(temp_allocate(&temp, SIZE_MAX, 1) == NULL && temp_allocate(&temp, SIZE_MAX - 62, 64) == NULL);
    EXPECT(temp.counts.allocations == 0 && heap_is_whole(MIB));
    return 0;
}

static int malloc_gives_size_0_an_address_of_its_own(void)
{
    begin(TEMP_MALLOC, MIB, 0);
    const void *nothing = temp_allocate(&temp, 0, 1);
    const void *more_of_it = temp_allocate(&temp, 0, 1);
    EXPECT(nothing != NULL && more_of_it != NULL && nothing != more_of_it && temp.live_bytes == 0);
    return 0;
}

static int malloc_leaks_nothing_when_the_heap_is_full(void)
{
    begin(TEMP_MALLOC, 64 * KIB, 0);
    while (allocate(4 * KIB) != NULL) {
    }
    EXPECT(temp.counts.allocations > 10 && temp.counts.allocations == heap.block_count);
    temp_reset(&temp);
    EXPECT(heap_is_whole(64 * KIB) && allocate(4 * KIB) != NULL);
    return 0;
}

static int malloc_peak_is_flat_over_1000_rounds(void)
{
    begin(TEMP_MALLOC, MIB, 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        EXPECT(allocate(4096) != NULL && allocate(100) != NULL);
        temp_reset(&temp);
        EXPECT(temp.peak == key_of(4096) + key_of(100) && heap_is_whole(MIB));
    }
    EXPECT(temp.counts.heap_allocations == 2 * ROUNDS);
    return 0;
}

static int counts_may_be_cleared_at_any_time(void)
{
    begin(TEMP_CACHING, MIB, MIB);
    EXPECT(allocate(100) != NULL);
    temp.counts = (struct temp_counts){0};
    temp_reset(&temp);
    EXPECT(allocate(100) != NULL && temp.counts.allocations == 1 && temp.counts.reused == 1);
    temp_destroy(&temp);
    EXPECT(temp.counts.heap_frees == 1 && heap_is_whole(MIB));
    return 0;
}

#define CHECK(name) {#name, name}

static const struct {
    const char *name;
    int (*run)(void);
} checks[] = {
    CHECK(heap_blocks_start_at_multiples_of_64),
    CHECK(heap_blocks_do_not_overlap),
    CHECK(heap_is_as_new_whatever_the_order_of_frees),
    CHECK(heap_reuses_the_lowest_gap_that_fits),
    CHECK(heap_gives_null_when_full_and_can_go_on),
    CHECK(heap_of_less_than_a_unit_is_always_full),
    CHECK(heap_counts_blocks_bytes_and_peak),
    CHECK(caching_aligns_to_64_by_itself),
    CHECK(caching_reuses_the_same_size_after_a_reset),
    CHECK(caching_gives_different_sizes_different_blocks),
    CHECK(caching_brings_back_both_blocks_of_one_size),
    CHECK(caching_keeps_alignments_of_64_to_512),
    CHECK(caching_refuses_an_alignment_that_is_no_power_of_two),
    CHECK(caching_may_exceed_its_limit_until_the_reset),
    CHECK(caching_destroy_gives_back_live_and_kept_blocks_once),
    CHECK(caching_gives_memory_in_every_round),
    CHECK(caching_gives_memory_that_can_be_written_to_its_end),
    CHECK(caching_brings_back_blocks_of_several_sizes),
    CHECK(caching_brings_back_a_mebibyte),
    CHECK(caching_does_not_share_between_100_at_256_and_100_at_512),
    CHECK(caching_survives_repeated_resets),
    CHECK(caching_frees_everything_at_a_reset_over_the_limit),
    CHECK(caching_keeps_everything_at_a_reset_within_the_limit),
    CHECK(caching_gives_the_last_kept_block_first),
    CHECK(caching_gives_repeated_rounds_the_same_blocks),
    CHECK(caching_shares_a_key_between_alignments),
    CHECK(caching_counts_kept_blocks_towards_the_limit),
    CHECK(caching_gives_size_0_an_address_of_its_own),
    CHECK(caching_stays_within_its_limit_while_sizes_grow),
    CHECK(caching_keeps_stale_contents),
    CHECK(caching_never_hits_when_three_models_exceed_the_limit_by_a_byte),
    CHECK(caching_refuses_sizes_that_overflow),
    CHECK(caching_leaks_nothing_when_the_heap_is_full),
    CHECK(caching_does_not_free_kept_blocks_for_a_full_heap),
    CHECK(caching_peak_is_flat_over_1000_rounds),
    CHECK(malloc_frees_everything_at_each_reset),
    CHECK(malloc_blocks_move_where_cached_ones_stay),
    CHECK(malloc_adds_nothing_for_alignments_up_to_16),
    CHECK(malloc_keeps_alignments_of_64_to_512),
    CHECK(malloc_refuses_what_caching_refuses),
    CHECK(malloc_gives_size_0_an_address_of_its_own),
    CHECK(malloc_leaks_nothing_when_the_heap_is_full),
    CHECK(malloc_peak_is_flat_over_1000_rounds),
    CHECK(counts_may_be_cleared_at_any_time),
};

void main(void);

void main(void)
{
    static const struct ethosu_device no_device;

    uart_initialise(UART_BASE);
    report_hello(&no_device);
    for (size_t i = 0; i < COUNT(checks); i++) {
        struct record record;
        int line = checks[i].run();

        record_begin(&record, "check");
        record_text(&record, "name", checks[i].name);
        record_decimal(&record, "line", (uint64_t)line);
        record_send(&record);
    }
    report_bye();
}
