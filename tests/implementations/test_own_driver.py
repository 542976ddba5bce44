"""A copy of our driver as the user's: the same in every number, and told apart by one defect."""

from __future__ import annotations

from dataclasses import replace

import pytest

DEFECTS = {
    "buffers that cannot be rewound": (
        ("ethosu_buffer.c", "batch->buffers[i].position = 0;", "batch->buffers[i].position += 0;"),
        "status",
    ),
    "a result that is read from the cache": (
        (
            "ethosu_memory.c",
            "device->counts.invalidated += cache_invalidate(from, size);",
            "device->counts.invalidated += size;",
        ),
        "outputs-reference",
    ),
    "an input that stays in the cache": (
        (
            "ethosu_memory.c",
            "    memcpy(to, from, size);\n    device->counts.copied += size;\n"
            "    device->counts.cleaned += cache_clean(to, size);",
            "    memcpy(to, from, size);\n    device->counts.copied += size;\n"
            "    device->counts.cleaned += size;",
        ),
        "outputs-reference",
    ),
    "cycles that add up over the inferences": (
        ("ethosu_device.c", "PMCR_COUNT_ENABLE | PMCR_CYCLE_RESET", "PMCR_COUNT_ENABLE"),
        "npu-cycles",
    ),
    "memory that is never given back": (
        ("ethosu_memory.c", "    pool_give_back(&device->pool, &memory->block);\n", ""),
        "high-water",
    ),
}


def timeless(run):
    """The cells without times: records take longer or shorter to print, and so shift the timer's ticks."""
    return [
        replace(cell, inferences=tuple(replace(each, elapsed_ns=0) for each in cell.inferences))
        for cell in run.cells
    ]


def test_a_copy_of_our_driver_behaves_as_ours(bench, ours, copy_of_ours):
    mine = copy_of_ours("ethosu_device.c", "#define RESET_TIMEOUT_MS 100", "#define RESET_TIMEOUT_MS 101")
    assert timeless(bench.run(mine)) == timeless(ours)
    assert bench.checks(ours) == set()


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_copy_with_a_defect_is_told_apart(bench, copy_of_ours, defect):
    change, check = DEFECTS[defect]
    assert check in bench.checks(bench.run(copy_of_ours(*change)))
