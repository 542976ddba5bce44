/*
 * Several threads that share one temporary allocator, on the host: blocks are checked here, data races by
 * ThreadSanitizer. Exits with 0, or with 1 after a line that says what went wrong.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/heap.h"
#include "memory/temp.h"

#define THREADS 4
#define ROUNDS 20
#define ALLOCATIONS 10
#define LIMIT ((size_t)16 * 1024)

static _Alignas(64) unsigned char memory[4 * 1024 * 1024];
static struct heap heap;
static struct temp temp;

struct worker {
    pthread_t thread;
    unsigned char number;
    unsigned char *blocks[ALLOCATIONS];
};

static void expect(int holds, const char *what)
{
    if (!holds) {
        printf("%s\n", what);
        exit(1);
    }
}

static size_t size_of(size_t allocation)
{
    return (allocation + 1) * 64;
}

static void *allocate_and_write(void *argument)
{
    struct worker *worker = argument;

    for (size_t i = 0; i < ALLOCATIONS; i++) {
        worker->blocks[i] = temp_allocate(&temp, size_of(i), 64);
        expect(worker->blocks[i] != NULL, "a thread got no memory");
        memset(worker->blocks[i], worker->number, size_of(i));
    }
    return NULL;
}

/* Other threads' resets take the memory away at any moment, so it is not touched. */
static void *allocate_and_reset(void *argument)
{
    struct worker *worker = argument;

    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < ALLOCATIONS; i++) {
            worker->blocks[i] = temp_allocate(&temp, size_of(i), 64);
            expect(worker->blocks[i] != NULL, "a thread got no memory");
        }
        temp_reset(&temp);
    }
    return NULL;
}

static void run_threads(struct worker *workers, void *(*work)(void *))
{
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].number = (unsigned char)(i + 1);
        int error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        expect(error == 0, "a thread could not be started");
    }
    for (size_t i = 0; i < THREADS; i++) {
        expect(pthread_join(workers[i].thread, NULL) == 0, "a thread could not be joined");
    }
}

static void check_blocks(const struct worker *worker)
{
    for (size_t i = 0; i < ALLOCATIONS; i++) {
        for (size_t at = 0; at < size_of(i); at++) {
            expect(worker->blocks[i][at] == worker->number, "a thread wrote into another's block");
        }
    }
}

static void share(enum temp_kind kind)
{
    struct worker workers[THREADS];

    heap_initialise(&heap, memory, sizeof memory);
    temp_initialise(&temp, kind, &heap, LIMIT);
    run_threads(workers, allocate_and_write);
    for (size_t i = 0; i < THREADS; i++) {
        check_blocks(&workers[i]);
    }
    temp_reset(&temp);
    run_threads(workers, allocate_and_reset);
    temp_destroy(&temp);
    expect(temp.counts.allocations == THREADS * ALLOCATIONS * (1 + ROUNDS), "an allocation was not counted");
    expect(temp.counts.heap_frees == temp.counts.heap_allocations, "a block was lost");
    expect(heap.block_count == 0 && heap.used == 0, "the heap is not empty");
}

int main(void)
{
    share(TEMP_MALLOC);
    share(TEMP_CACHING);
    return 0;
}
