#include "memory/temp.h"

#include <stdbool.h>

#include "memory/temp_lock.h"

/* Stands in the first unit of its heap block; what is allocated begins in the next, on another cache line. */
struct temp_block {
    struct temp_block *next;
    size_t key;
};

_Static_assert(sizeof(struct temp_block) <= HEAP_UNIT, "a block's bookkeeping takes one unit");

static const struct {
    size_t least_alignment;
    bool keeps_blocks; /* at a reset within max_size */
} rules[] = {
    [TEMP_MALLOC] = {.least_alignment = 1, .keeps_blocks = false},
    [TEMP_CACHING] = {.least_alignment = TEMP_CACHE_ALIGNMENT, .keeps_blocks = true},
};

static void push(struct temp_block **list, struct temp_block *block)
{
    block->next = *list;
    *list = block;
}

static struct temp_block *pop(struct temp_block **list)
{
    struct temp_block *block = *list;

    *list = block->next;
    return block;
}

void temp_initialise(struct temp *temp, enum temp_kind kind, struct heap *heap, size_t max_size)
{
    *temp = (struct temp){.kind = kind, .heap = heap, .max_size = max_size};
}

/* Take the block of this key that was kept last; NULL when there is none. */
static struct temp_block *take_cached(struct temp *temp, size_t key)
{
    for (struct temp_block **link = &temp->cached; *link != NULL; link = &(*link)->next) {
        if ((*link)->key == key) {
            temp->cached_bytes -= key;
            temp->counts.reused++;
            return pop(link);
        }
    }
    return NULL;
}

static struct temp_block *take_from_heap(struct temp *temp, size_t key)
{
    struct temp_block *block = heap_allocate(temp->heap, HEAP_UNIT + key);

    if (block != NULL) {
        block->key = key;
        temp->counts.heap_allocations++;
    }
    return block;
}

static struct temp_block *take_block(struct temp *temp, size_t key)
{
    struct temp_block *block = take_cached(temp, key);

    if (block == NULL) {
        block = take_from_heap(temp, key);
    }
    if (block != NULL) {
        push(&temp->live, block);
        temp->live_bytes += key;
        size_t held = temp->live_bytes + temp->cached_bytes;
        temp->peak = held > temp->peak ? held : temp->peak;
        temp->counts.allocations++;
    }
    return block;
}

void *temp_allocate(struct temp *temp, size_t size, size_t alignment)
{
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        return NULL;
    }
    if (alignment < rules[temp->kind].least_alignment) {
        alignment = rules[temp->kind].least_alignment;
    }
    size_t extra = alignment > TEMP_HEAP_ALIGNMENT ? alignment - 1 : 0;
    if (size > SIZE_MAX - HEAP_UNIT - extra) {
        return NULL;
    }
    temp_lock_take();
    struct temp_block *block = take_block(temp, size + extra);
    temp_lock_release();
    if (block == NULL) {
        return NULL;
    }
    uintptr_t start = (uintptr_t)block + HEAP_UNIT;
    return (void *)((start + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

static void keep_live_blocks(struct temp *temp)
{
    while (temp->live != NULL) {
        push(&temp->cached, pop(&temp->live));
    }
    temp->cached_bytes += temp->live_bytes;
    temp->live_bytes = 0;
}

static void free_list(struct temp *temp, struct temp_block **list)
{
    while (*list != NULL) {
        heap_free(temp->heap, pop(list));
        temp->counts.heap_frees++;
    }
}

static void free_everything(struct temp *temp)
{
    free_list(temp, &temp->live);
    free_list(temp, &temp->cached);
    temp->live_bytes = 0;
    temp->cached_bytes = 0;
}

void temp_reset(struct temp *temp)
{
    temp_lock_take();
    if (rules[temp->kind].keeps_blocks && temp->live_bytes + temp->cached_bytes <= temp->max_size) {
        keep_live_blocks(temp);
    } else {
        free_everything(temp);
    }
    temp_lock_release();
}

void temp_destroy(struct temp *temp)
{
    temp_lock_take();
    free_everything(temp);
    temp_lock_release();
}
