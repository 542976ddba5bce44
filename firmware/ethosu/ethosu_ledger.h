/*
 * The ledger: what the driver has created and not destroyed, and who asked for it.
 *
 * Every object of the driver has an entry from its creation to its destruction. The entries stand here and
 * not in the objects, so that one that is forgotten, or overwritten while it lives, is still in the books.
 */
#ifndef ETHOSU_LEDGER_H
#define ETHOSU_LEDGER_H

#include <stddef.h>
#include <stdint.h>

#include "memory/pool.h"

/* Of every block of the pool: its memory, its mapping, and the object that it is for; and the inference. */
#define ETHOSU_MAX_OBJECTS (3 * POOL_MAX_BLOCKS + 1)

/* On whose behalf something is done. */
struct ethosu_origin {
    const char *step; /* what the caller is doing, as one word */
    size_t owner;     /* a number of the caller's */
};

struct ethosu_entry {
    const char *kind; /* one word; NULL: the entry is free */
    size_t size;      /* bytes that the object holds by itself */
    struct ethosu_origin origin;
    struct ethosu_entry *next_free;
};

struct ethosu_ledger {
    struct ethosu_entry entries[ETHOSU_MAX_OBJECTS];
    struct ethosu_entry *first_free;
    size_t live; /* objects that exist */
};

/*
 * Forget everything. Afterwards an object costs the same to enter whether others were entered before or not.
 */
void ethosu_ledger_clear(struct ethosu_ledger *ledger);

/*
 * Enter an object of `size` bytes; returns its entry. A ledger that is full is a trap: see
 * ETHOSU_MAX_OBJECTS.
 */
struct ethosu_entry *ethosu_ledger_add(struct ethosu_ledger *ledger, const char *kind, size_t size,
                                       struct ethosu_origin origin);

/* Strike out an object. One that is not in the books, since it was destroyed already, is a trap. */
void ethosu_ledger_remove(struct ethosu_ledger *ledger, struct ethosu_entry *entry);

#endif
