"""Defects in the allocator, each of which the check that is named for it must find."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from harness.build.firmware_tree import Edit

TEMP, HEAP = "memory/temp.c", "memory/heap.c"


@dataclass(frozen=True)
class Defect:
    """Edits that make the firmware wrong, and the check that must not hold any more."""

    name: str
    check: str
    edits: tuple[Edit, ...]


def defect(name: str, check: str, *replacements: tuple[str, str], file: str = TEMP) -> Defect:
    return Defect(name, check, tuple(Edit(file, old, new) for old, new in replacements))


DEFECTS = (
    defect(
        "a reset that does nothing",
        "caching_peak_is_flat_over_1000_rounds",
        ("    if (rules[", "    if (temp->heap != NULL) {\n        return;\n    }\n    if (rules["),
    ),
    defect(
        "kept blocks come back oldest first",
        "caching_gives_the_last_kept_block_first",
        (
            "        push(&temp->cached, pop(&temp->live));",
            "        struct temp_block **end = &temp->cached;\n"
            "        while (*end != NULL) {\n            end = &(*end)->next;\n        }\n"
            "        push(end, pop(&temp->live));",
        ),
    ),
    defect(
        "the key is the size alone",
        "caching_does_not_share_between_100_at_256_and_100_at_512",
        ("take_block(temp, size + extra)", "take_block(temp, size)"),
        ("HEAP_UNIT + key)", "HEAP_UNIT + key + 511)"),
    ),
    defect(
        "the alignment counts twice in the key",
        "caching_shares_a_key_between_alignments",
        ("take_block(temp, size + extra)", "take_block(temp, size + 2 * extra)"),
    ),
    defect(
        "a kept block that is larger is taken too",
        "caching_gives_different_sizes_different_blocks",
        ("if ((*link)->key == key)", "if ((*link)->key >= key)"),
    ),
    defect(
        "the limit is enforced at allocation",
        "caching_may_exceed_its_limit_until_the_reset",
        (
            "    temp_lock_take();\n    struct temp_block *block = take_block(",
            "    if (temp->live_bytes + size + extra > temp->max_size && temp->kind == TEMP_CACHING) {\n"
            "        return NULL;\n    }\n"
            "    temp_lock_take();\n    struct temp_block *block = take_block(",
        ),
    ),
    defect(
        "a reset clears what it keeps",
        "caching_keeps_stale_contents",
        ('#include "memory/temp_lock.h"', '#include "memory/temp_lock.h"\n#include "platform/bytes.h"'),
        (
            "        push(&temp->cached, pop(&temp->live));",
            "        memset((uint8_t *)temp->live + HEAP_UNIT, 0, temp->live->key);\n"
            "        push(&temp->cached, pop(&temp->live));",
        ),
    ),
    defect(
        "kept blocks do not count towards the limit",
        "caching_counts_kept_blocks_towards_the_limit",
        ("temp->live_bytes + temp->cached_bytes <= temp->max_size", "temp->live_bytes <= temp->max_size"),
    ),
    defect(
        "what is exactly the limit exceeds it",
        "caching_keeps_everything_at_a_reset_within_the_limit",
        ("temp->cached_bytes <= temp->max_size", "temp->cached_bytes < temp->max_size"),
    ),
    defect(
        "a reset over the limit frees the live blocks alone",
        "caching_never_hits_when_three_models_exceed_the_limit_by_a_byte",
        (
            "    } else {\n        free_everything(temp);",
            "    } else {\n        free_list(temp, &temp->live);\n        temp->live_bytes = 0;",
        ),
    ),
    defect(
        "destroy frees twice",
        "caching_destroy_gives_back_live_and_kept_blocks_once",
        (
            "    temp_lock_take();\n    free_everything(temp);",
            "    temp_lock_take();\n    if (temp->live != NULL) {\n"
            "        heap_free(temp->heap, temp->live);\n    }\n    free_everything(temp);",
        ),
    ),
    defect(
        "destroy forgets the kept blocks",
        "caching_destroy_gives_back_live_and_kept_blocks_once",
        (
            "    temp_lock_take();\n    free_everything(temp);",
            "    temp_lock_take();\n    free_list(temp, &temp->live);",
        ),
    ),
    defect(
        "malloc keeps its blocks",
        "malloc_frees_everything_at_each_reset",
        (".keeps_blocks = false", ".keeps_blocks = true"),
    ),
    defect(
        "size and alignment may overflow",
        "caching_refuses_sizes_that_overflow",
        ("    if (size > SIZE_MAX - HEAP_UNIT - extra) {\n        return NULL;\n    }\n", ""),
    ),
    defect(
        "alignments below 64 are taken as they are",
        "caching_aligns_to_64_by_itself",
        ("alignment < rules[temp->kind].least_alignment", "false"),
    ),
    defect(
        "any alignment is accepted",
        "caching_refuses_an_alignment_that_is_no_power_of_two",
        ("alignment == 0 || (alignment & (alignment - 1)) != 0", "alignment == 0"),
    ),
    defect(
        "what is allocated is not aligned",
        "caching_keeps_alignments_of_64_to_512",
        ("(start + alignment - 1) & ~(uintptr_t)(alignment - 1)", "start"),
    ),
    defect(
        "malloc takes no room for the alignment",
        "malloc_adds_nothing_for_alignments_up_to_16",
        (
            "alignment > TEMP_HEAP_ALIGNMENT ?",
            "alignment > TEMP_HEAP_ALIGNMENT && temp->kind == TEMP_CACHING ?",
        ),
    ),
    defect(
        "size 0 is refused",
        "malloc_gives_size_0_an_address_of_its_own",
        ("    if (alignment == 0 ||", "    if (size == 0 || alignment == 0 ||"),
    ),
    defect(
        "the heap starts where its memory does",
        "heap_blocks_start_at_multiples_of_64",
        ("((uintptr_t)memory + HEAP_UNIT - 1) & ~(uintptr_t)(HEAP_UNIT - 1)", "(uintptr_t)memory"),
        file=HEAP,
    ),
    defect(
        "bookkeeping takes no room",
        "heap_blocks_do_not_overlap",
        ("size = HEAP_UNIT + ((size + HEAP_UNIT - 1)", "size = ((size + HEAP_UNIT - 1)"),
        file=HEAP,
    ),
    defect(
        "the heap's end may lie before its start",
        "heap_of_less_than_a_unit_is_always_full",
        ("    if (start < end) {", "    if (start != 0) {"),
        file=HEAP,
    ),
    defect(
        "freed neighbours are not joined",
        "heap_is_as_new_whatever_the_order_of_frees",
        ("    join_next(block);\n    if", "    if"),
        file=HEAP,
    ),
    defect(
        "a gap of equal size is passed over",
        "heap_gives_null_when_full_and_can_go_on",
        ("(*link)->size >= size", "(*link)->size > size"),
        file=HEAP,
    ),
    defect(
        "rounding a size may wrap",
        "heap_gives_null_when_full_and_can_go_on",
        ("size > SIZE_MAX - 2 * HEAP_UNIT", "size == SIZE_MAX"),
        file=HEAP,
    ),
    defect(
        "free forgets to count",
        "heap_counts_blocks_bytes_and_peak",
        ("    heap->used -= block->size;\n", ""),
        file=HEAP,
    ),
)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_check_finds(run_checks, defect):
    assert run_checks(*defect.edits).failure(defect.check) is not None


def test_freeing_a_block_twice_is_a_trap(run_checks):
    free = "heap_free(temp->heap, pop(list));"
    twice = Edit(TEMP, free, f"heap_free(temp->heap, *list);\n        {free}")
    assert run_checks(twice).ended_in is not None
