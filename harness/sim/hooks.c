/*
 * The simulator's hooks that Unicorn calls most: for every basic block, load, store and cache operation.
 *
 * In Python each call would cost more than the instruction it is for. What is seldom needed is left to Python:
 * each state has function pointers for that. Times, addresses and orders are those of the guest, never the
 * host's. The structures are those of harness/sim/hooks.py.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LINE ((uint64_t)64)   /* bytes of a cache line */
#define PAGE ((uint64_t)4096) /* bytes */

/* uc_reg_read() and uc_emu_stop() of Unicorn's include/unicorn/unicorn.h. */
typedef int (*read_register)(void *engine, int number, void *value);
typedef int (*stop_engine)(void *engine);

/* How many bytes of instructions were entered, and when to stop. */
struct block_counter {
    uint64_t bytes; /* of every block entered so far */
    uint64_t end;   /* address after the block entered last */
    uint64_t limit; /* the first block after this many bytes is not entered */
    uint64_t is_stopped;
    stop_engine stop;
};

/* UC_HOOK_BLOCK: count a block before it runs, or stop the core where the limit is met. */
void count_block(void *engine, uint64_t address, uint32_t size, void *user)
{
    struct block_counter *counter = user;

    if (counter->bytes >= counter->limit) {
        counter->is_stopped = 1;
        (void)counter->stop(engine);
        return;
    }
    counter->bytes += size;
    counter->end = address + size;
}

/* What a byte of cached memory may be; it may be both. */
#define DIRTY 1 /* the CPU stored to it and has not cleaned it since */
#define STALE 2 /* the NPU wrote it, and the CPU has neither invalidated nor overwritten it since */

/* The checker's notes on one RAM. */
struct shadow {
    uint64_t base;         /* physical address of the RAM */
    uint8_t *state;        /* of each byte */
    uint64_t *dirtied_by;  /* of each line the pc of the store that dirtied it; 0: none did */
    int pc;                /* UC_ARM64_REG_PC */
    read_register read;
    void (*on_stale_load)(uint64_t address, uint64_t size);
};

/* UC_HOOK_MEM_WRITE: the CPU stores `size` bytes, at most a line. */
void note_store(void *engine, int access, uint64_t address, int size, int64_t value, void *user)
{
    struct shadow *shadow = user;
    uint64_t start = address - shadow->base;
    uint64_t *dirtied_by = &shadow->dirtied_by[start / LINE];

    (void)access;
    (void)value;
    memset(shadow->state + start, DIRTY, (size_t)size);
    if (*dirtied_by == 0) {
        (void)shadow->read(engine, shadow->pc, dirtied_by);
    }
}

/* UC_HOOK_MEM_READ: the CPU loads `size` bytes, at most a line. */
void check_load(void *engine, int access, uint64_t address, int size, int64_t value, void *user)
{
    const struct shadow *shadow = user;
    const uint8_t *state = shadow->state + (address - shadow->base);

    (void)engine;
    (void)access;
    (void)value;
    for (int i = 0; i < size; i++) {
        if (state[i] & STALE) {
            shadow->on_stale_load(address, (uint64_t)size);
            return;
        }
    }
}

/* uc_arm64_cp_reg of Unicorn's include/unicorn/arm64.h. */
struct operands {
    uint32_t crn, crm, op0, op1, op2;
    uint64_t value;
};

/* A page that the core has maintained, by exception level and virtual address. */
struct page {
    uint64_t key;         /* virtual address, exception level, KEY_VALID */
    uint8_t *cpu;         /* its bytes as the core sees them, NULL where there is no RAM */
    uint8_t *memory;      /* as the bus masters see them */
    uint8_t *state;       /* its place in a shadow, NULL where nothing is checked */
    uint64_t *dirtied_by;
};

#define KEY_VALID ((uint64_t)4)
#define PAGES 1024

struct maintenance {
    struct page pages[PAGES];
    int pstate; /* UC_ARM64_REG_PSTATE */
    read_register read;
    uint32_t (*otherwise)(void *engine, uint32_t register_, struct operands *operands, void *user);
};

/* What an operation by address does to a line, cleaning first. */
#define CLEANS 1
#define INVALIDATES 2

/* CLEANS and INVALIDATES of DC IVAC, CVAC and CIVAC; 0 for any other operation. */
static unsigned effect(const struct operands *operands)
{
    if (operands->crn != 7 || operands->op0 != 1 || operands->op2 != 1) {
        return 0;
    }
    if (operands->op1 == 0 && operands->crm == 6) {
        return INVALIDATES;
    }
    if (operands->op1 == 3 && operands->crm == 10) {
        return CLEANS;
    }
    return operands->op1 == 3 && operands->crm == 14 ? CLEANS | INVALIDATES : 0;
}

static void maintain_line(const struct page *page, uint64_t start, unsigned done)
{
    if (page->cpu == NULL) {
        return;
    }
    if ((done & CLEANS) && page->cpu != page->memory) {
        memcpy(page->memory + start, page->cpu + start, LINE);
    }
    if ((done & INVALIDATES) && page->cpu != page->memory) {
        memcpy(page->cpu + start, page->memory + start, LINE);
    }
    if (page->state == NULL) {
        return;
    }
    page->dirtied_by[start / LINE] = 0;
    for (uint64_t i = start; i < start + LINE; i++) {
        page->state[i] &= (done & INVALIDATES) ? 0 : STALE;
    }
}

/*
 * UC_HOOK_INSN for SYS: carry out cache maintenance by address. Any other operation, and one on a page that is
 * not known, is `otherwise`'s, which makes the page known; the return value is then its.
 */
uint32_t maintain(void *engine, uint32_t register_, struct operands *operands, void *user)
{
    struct maintenance *maintenance = user;
    unsigned done = effect(operands);
    uint64_t pstate = 0;

    if (done == 0) {
        return maintenance->otherwise(engine, register_, operands, user);
    }
    (void)maintenance->read(engine, maintenance->pstate, &pstate);
    uint64_t key = (operands->value & ~(PAGE - 1)) | KEY_VALID | (pstate >> 2 & 3);
    const struct page *page = &maintenance->pages[operands->value / PAGE % PAGES];
    uint32_t answer = 0;
    if (page->key != key) {
        answer = maintenance->otherwise(engine, register_, operands, user);
    }
    if (page->key == key) {
        maintain_line(page, operands->value & (PAGE - LINE), done);
    }
    return answer;
}
