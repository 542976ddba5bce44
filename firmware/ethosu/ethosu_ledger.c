#include "ethosu/ethosu_ledger.h"

void ethosu_ledger_clear(struct ethosu_ledger *ledger)
{
    ledger->first_free = NULL;
    for (size_t i = ETHOSU_MAX_OBJECTS; i > 0; i--) {
        ledger->entries[i - 1] = (struct ethosu_entry){.next_free = ledger->first_free};
        ledger->first_free = &ledger->entries[i - 1];
    }
    ledger->live = 0;
}

struct ethosu_entry *ethosu_ledger_add(struct ethosu_ledger *ledger, const char *kind, size_t size,
                                       struct ethosu_origin origin)
{
    struct ethosu_entry *entry = ledger->first_free;

    if (entry == NULL) {
        __builtin_trap();
    }
    ledger->first_free = entry->next_free;
    *entry = (struct ethosu_entry){.kind = kind, .size = size, .origin = origin};
    ledger->live++;
    return entry;
}

void ethosu_ledger_remove(struct ethosu_ledger *ledger, struct ethosu_entry *entry)
{
    if (entry->kind == NULL) {
        __builtin_trap();
    }
    *entry = (struct ethosu_entry){.next_free = ledger->first_free};
    ledger->first_free = entry;
    ledger->live--;
}
