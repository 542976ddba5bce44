"""What the board says of the NPU's streams becomes findings in the terms of the plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.models.compiled import SCRATCH_REGION, Bytes, Tensor
from harness.plan import DRIVER_PERSISTENT, PER_INFERENCE
from harness.results.finding import Finding
from harness.results.npu_checks import npu_check_findings, stream_checks
from harness.results.run_record import Place, RunRecord

PLACES = (
    Place("weights", 0x1000, 256),
    Place("scratch", 0x2000, 256),
    Place("inputs", 0x3000, 64),
    Place("outputs", 0x4000, 64),
)
CHECK = (
    "harness-sim: npu-check read-unwritten sure={sure} jobs={jobs} at=0x1c op=OP_CONV region=1 "
    "address=0x2040 bytes=16"
)
EXTENT = "harness-sim: npu-extent access={access} jobs={jobs} region={region} address={address:#x} bytes=16"


@pytest.fixture
def run(run: RunRecord) -> RunRecord:
    """The run, its buffers in place; its cells are two, of three jobs each."""
    cells = (replace(cell, cell=number, places=PLACES) for number, cell in enumerate(run.cells))
    return replace(run, cells=tuple(cells))


def findings(run: RunRecord, *console: str, model: int = 0) -> list[Finding]:
    return [*npu_check_findings(stream_checks(console), run, model)]


def extent(address: int, region: int = 1, access: str = "read", jobs: str = "0-5") -> str:
    return EXTENT.format(access=access, jobs=jobs, region=region, address=address)


def test_a_broken_rule_is_a_finding_at_the_first_of_its_jobs(run: RunRecord) -> None:
    (finding,) = findings(run, CHECK.format(sure="yes", jobs="2,4-5"))
    assert (finding.check, finding.mode, finding.index) == ("npu-check", PER_INFERENCE, 2)
    assert finding.detail == (
        "read-unwritten: OP_CONV at 0x1c, 16 bytes at 0x2040 (region 1) (and 2 more inferences)"
    )


@pytest.mark.parametrize(("offset", "is_found"), [(0x40, False), (0x30, True), (0x48, True)])
def test_an_input_in_scratch_was_written_by_the_cpu(run: RunRecord, offset: int, is_found: bool) -> None:
    inside = (Tensor("input", (16,), "int8", SCRATCH_REGION, Bytes(offset), Bytes(16)),)
    said = stream_checks([CHECK.format(sure="yes", jobs="2")])  # it reads 16 bytes from 0x40 on
    assert bool([*npu_check_findings(said, run, 0, inside)]) == is_found


def test_what_the_rules_do_not_decide_is_no_finding(run: RunRecord) -> None:
    assert findings(run, CHECK.format(sure="no", jobs="0")) == []


def test_a_finding_belongs_to_the_model_of_its_job(run: RunRecord) -> None:
    assert findings(run, CHECK.format(sure="yes", jobs="0"), model=1) == []


@pytest.mark.parametrize(("region", "address"), [(0, 0x1000), (1, 0x20F0), (3, 0x3000), (4, 0x4000)])
def test_use_of_a_regions_own_buffer_is_no_finding(run: RunRecord, region, address) -> None:
    assert findings(run, extent(address, region)) == []


@pytest.mark.parametrize("address", [0x1FF8, 0x20F8, 0x4000])
def test_use_outside_the_regions_buffer_is_a_finding(run: RunRecord, address: int) -> None:
    (finding,) = findings(run, extent(address, jobs="4"))
    assert (finding.mode, finding.index) == (DRIVER_PERSISTENT, 1)
    assert finding.detail == (
        f"outside-region: 16 bytes at {address:#x} of region 1 are not in the scratch, 256 bytes at 0x2000"
    )


@pytest.mark.parametrize(("address", "name"), [(0x1080, "weights"), (0x3000, "inputs")])
def test_a_write_over_what_is_to_stay_is_a_finding(run: RunRecord, address: int, name: str) -> None:
    (finding,) = findings(run, extent(address, region=4, access="write", jobs="0"))
    assert finding.detail == (f"write-protected: region 4, 16 bytes at {address:#x}, written over the {name}")


def test_a_region_that_nothing_lies_behind_is_a_finding(run: RunRecord) -> None:
    (finding,) = findings(run, extent(0, region=6, jobs="0"))
    assert finding.detail.startswith("outside-region: region 6 has no buffer")


def test_a_buffer_that_moved_is_the_one_of_its_inference(run: RunRecord) -> None:
    moved = replace(run.cells[0], places=(*PLACES, Place("scratch", 0x5000, 256, index=1)))
    run = replace(run, cells=(moved, *run.cells[1:]))
    assert findings(run, extent(0x2000, jobs="0"), extent(0x5000, jobs="1-2")) == []
    (finding,) = findings(run, extent(0x2000, jobs="0-2"))
    assert (finding.index, "1 more" in finding.detail) == (1, True)


def test_other_noise_is_no_finding(run: RunRecord) -> None:
    assert findings(run, "harness-sim: npu-fault kind=hang job=1 happened=yes", "U-Boot 2026.01") == []
