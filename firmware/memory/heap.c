#include "memory/heap.h"

#include <stdint.h>

/* What stands in the unit before a block. */
struct heap_block {
    size_t size;              /* bytes, with this unit */
    struct heap_block *next;  /* free blocks: the next free one, or NULL */
    const struct heap *owner; /* live blocks: their heap; NULL while free */
};

_Static_assert(sizeof(struct heap_block) <= HEAP_UNIT, "a block's bookkeeping takes one unit");

static struct heap_block *block_at(uintptr_t address)
{
    return (struct heap_block *)address;
}

void heap_initialise(struct heap *heap, void *memory, size_t size)
{
    uintptr_t start = ((uintptr_t)memory + HEAP_UNIT - 1) & ~(uintptr_t)(HEAP_UNIT - 1);
    uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(HEAP_UNIT - 1);

    *heap = (struct heap){.first_free = NULL};
    if (start < end) {
        heap->first_free = block_at(start);
        *heap->first_free = (struct heap_block){.size = end - start};
    }
}

/* Take `size` bytes off the front of the free block that `link` leads to. */
static struct heap_block *take(struct heap *heap, struct heap_block **link, size_t size)
{
    struct heap_block *block = *link;

    if (block->size == size) {
        *link = block->next;
    } else {
        *link = block_at((uintptr_t)block + size);
        **link = (struct heap_block){.size = block->size - size, .next = block->next};
    }
    *block = (struct heap_block){.size = size, .owner = heap};
    return block;
}

void *heap_allocate(struct heap *heap, size_t size)
{
    if (size > SIZE_MAX - 2 * HEAP_UNIT) {
        return NULL; /* rounding would wrap */
    }
    size = HEAP_UNIT + ((size + HEAP_UNIT - 1) & ~(HEAP_UNIT - 1));
    for (struct heap_block **link = &heap->first_free; *link != NULL; link = &(*link)->next) {
        if ((*link)->size >= size) {
            struct heap_block *block = take(heap, link, size);
            heap->block_count++;
            heap->used += size;
            heap->peak = heap->used > heap->peak ? heap->used : heap->peak;
            return (void *)((uintptr_t)block + HEAP_UNIT);
        }
    }
    return NULL;
}

/* Join a free block with the next free one, if that begins where it ends. */
static void join_next(struct heap_block *block)
{
    const struct heap_block *next = block->next;

    if ((uintptr_t)block + block->size == (uintptr_t)next) {
        block->size += next->size;
        block->next = next->next;
    }
}

void heap_free(struct heap *heap, void *address)
{
    struct heap_block *block = block_at((uintptr_t)address - HEAP_UNIT);
    struct heap_block *before = NULL;
    struct heap_block *next = heap->first_free;

    if (block->owner != heap) {
        __builtin_trap(); /* going on would spoil the free list, and show only much later */
    }
    heap->block_count--;
    heap->used -= block->size;
    while (next != NULL && next < block) {
        before = next;
        next = next->next;
    }
    *block = (struct heap_block){.size = block->size, .next = next};
    join_next(block);
    if (before == NULL) {
        heap->first_free = block;
    } else {
        before->next = block;
        join_next(before);
    }
}
