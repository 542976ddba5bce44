"""Arm's core driver behind our interface: a stand-in for it, and a real checkout where there is one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from harness.build.firmware_tree import Edit

STAND_IN = Path(__file__).with_name("stand_in_core_driver")
HEADER = "core_driver/include/ethosu_driver.h"
DRIVER = "core_driver/src/ethosu_driver.c"
DEVICE = "core_driver/src/ethosu_device_u85.c"
FAULTS = ("status-error", "bus-error", "hang", "late", "early", "lost-completion")


def hooks_of_one_range() -> tuple[Edit, ...]:
    """Edits that give the stand-in the cache hooks of older releases, and have it clean its stream."""
    lists = "(const uint64_t *base_addr, const size_t *base_addr_size, int num_base_addr)"
    unused = "    (void)base_addr;\n    (void)base_addr_size;\n    (void)num_base_addr;\n"
    call = "(drv->job.base_addr, drv->job.base_addr_size, drv->job.num_base_addr)"
    clean = "((uint32_t *)(uintptr_t)stream, bytes)"
    nothing = "((uint32_t *)(uintptr_t)drv->job.base_addr[4], 0)"
    edits = []
    for hook, of_one in (("ethosu_flush_dcache", clean), ("ethosu_invalidate_dcache", nothing)):
        folded = lists.replace(" int", "\n" + " " * len(f"void __attribute__((weak)) {hook}(") + "int")
        edits += [
            Edit(HEADER, f"{hook}{lists}", f"{hook}(uint32_t *p, size_t bytes)"),
            Edit(DRIVER, f"{hook}{folded}\n{{\n{unused}", f"{hook}(uint32_t *p, size_t bytes)\n{{\n"),
            Edit(DRIVER, f"{hook}{call}", f"{hook}{of_one}"),
        ]
    return tuple(edits)


@pytest.fixture(scope="session")
def stand_in(bench):
    return bench.run(STAND_IN)


def outcomes(run):
    return [[(each.status, each.npu_cycles, each.digests) for each in cell.inferences] for cell in run.cells]


def test_the_stand_in_passes_every_check(bench, stand_in):
    assert bench.checks(stand_in) == set()


def test_the_stand_in_gives_our_outputs_in_our_cycles(ours, stand_in):
    assert outcomes(stand_in) == outcomes(ours)


def test_the_stand_in_costs_what_it_costs(ours, stand_in):
    theirs, mine = (run.cells[0].inferences[1].stage.phases for run in (stand_in, ours))
    assert theirs["submit"] > mine["submit"]
    assert theirs["create"] == mine["create"]


def test_a_release_with_older_cache_hooks_cleans_its_stream(bench, stand_in):
    older = bench.run(STAND_IN, *hooks_of_one_range())
    assert bench.checks(older) == set()
    cleaned = [run.cells[1].inferences[1].stage.counts["cleaned"] for run in (older, stand_in)]
    stream = len(bench.compiled.command_stream) - 64
    assert stream <= cleaned[0] - cleaned[1] <= stream + 2 * 64


def test_a_release_with_newer_file_names_is_built(bench, tmp_path):
    newer = shutil.copytree(STAND_IN, tmp_path / "newer")
    (newer / "config").mkdir()
    (newer / "src/ethosu_config_u85.h").rename(newer / "config/ethosu_config_u85.h")
    (newer / "src/ethosu_device_u85.c").rename(newer / "src/ethosu_backend_u85.c")
    (newer / "src/ethosu_pmu_u85.c").write_text("const int has_pmu = 1;\n")
    pmu = Edit(DRIVER, "#define COP1", "extern const int has_pmu;\n#define COP1")
    use = Edit(DRIVER, "if (ethosu_mutex == NULL) {", "if (has_pmu && ethosu_mutex == NULL) {")
    assert bench.checks(bench.run(newer, pmu, use)) == set()


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_of_the_npu_ends_as_with_ours(bench, kind):
    parameters = {"host.ethosu.fault": kind, "host.ethosu.fault_job": "1"}
    theirs, mine = (bench.run(each, parameters=parameters) for each in (STAND_IN, None))
    statuses = [[[each.status for each in cell.inferences] for cell in run.cells] for run in (theirs, mine)]
    assert statuses[0] == statuses[1]
    assert [cell.live_objects for cell in theirs.cells] == [0, 0]


DEFECTS = {
    "a base address too few": Edit(DEVICE, "i < num_base_addr; i++", "i < num_base_addr - 1; i++"),
    "an interrupt that is not cleared": Edit(
        DEVICE, "    dev->reg[CMD] = (dev->reg[CMD] & CLOCK_AND_POWER) | 2;\n", ""
    ),
    "a payload for another NPU": Edit(DEVICE, "config == dev->reg[CONFIG]", "config != dev->reg[CONFIG]"),
    "a stream that is run in part": Edit(DRIVER, "stream_words * 4)", "stream_words * 2)"),
    "a job that is not forgotten": Edit(
        DRIVER, "    forget_job(drv);\n    return failed", "    return failed"
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_of_a_core_driver_is_caught(bench, defect):
    assert "status" in bench.checks(bench.run(STAND_IN, DEFECTS[defect]))


def test_memory_behind_another_port_shows_in_the_cycles(bench, ours):
    other_port = Edit(DEVICE, "reg[MEM_ATTR + 2] = NPU_MEM_ATTR_2", "reg[MEM_ATTR + 2] = NPU_MEM_ATTR_0")
    assert outcomes(bench.run(STAND_IN, other_port)) != outcomes(ours)


def test_a_real_checkout_passes_every_check(bench, ours):
    checkout = os.environ.get("HARNESS_TEST_CORE_DRIVER")
    if checkout is None:
        pytest.skip("HARNESS_TEST_CORE_DRIVER names no checkout of Arm's ethos-u-core-driver")
    run = bench.run(Path(checkout))
    assert bench.checks(run) == set()
    assert outcomes(run) == outcomes(ours)
