"""What the board says of missing cache maintenance becomes findings in the terms of the plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.plan import DRIVER_PERSISTENT, PER_INFERENCE
from harness.results.coherency import coherency_findings, missing_maintenance
from harness.results.finding import Finding
from harness.results.run_record import Place, RunRecord

SYMBOLS = {"memcpy": 0x88201000, "$x.1": 0x88201008, "memset": 0x88201100}
OUTPUTS = Place("outputs", 0xA0001000, 64)
STALE = "harness-sim: coherency cpu-read-stale address=0xa0001004 bytes=4 pc=0x88201010 job={job}"
DIRTY = "harness-sim: coherency npu-read-dirty address=0xa0002000 bytes=64 pc=0x882010fc job=0 at=0x1c op=DMA"


@pytest.fixture
def run(run: RunRecord) -> RunRecord:
    """The run, its outputs in place; its cells are two, of three jobs each."""
    cells = (replace(cell, cell=number, places=(OUTPUTS,)) for number, cell in enumerate(run.cells))
    return replace(run, cells=tuple(cells))


def findings(run: RunRecord, *console: str, model: int = 0) -> list[Finding]:
    return [*coherency_findings(missing_maintenance(console), run, model, SYMBOLS)]


def test_an_address_is_named_by_its_buffer_and_a_program_counter_by_its_function(run: RunRecord) -> None:
    (finding,) = findings(run, STALE.format(job=0))
    place = "outputs+0x4 (0xa0001004)"
    assert finding.detail == f"memcpy+0x10 read 4 bytes at {place} without invalidating what the NPU wrote"


def test_an_address_outside_all_buffers_is_said_to_be_so(run: RunRecord) -> None:
    (finding,) = findings(run, DIRTY)
    assert finding.detail == (
        "the NPU read 64 bytes at 0xa0002000, which is no buffer, that memcpy+0xfc had written "
        "and not cleaned (DMA)"
    )


@pytest.mark.parametrize(
    ("job", "mode", "index"), [(0, PER_INFERENCE, 0), (2, PER_INFERENCE, 2), (4, DRIVER_PERSISTENT, 1)]
)
def test_a_job_is_the_inference_that_started_it(run: RunRecord, job, mode, index) -> None:
    (finding,) = findings(run, STALE.format(job=job))
    assert (finding.check, finding.mode, finding.index) == ("coherency", mode, index)


@pytest.mark.parametrize("job", [-1, 6])
def test_what_belongs_to_no_job_is_a_finding_of_the_first_model(run: RunRecord, job: int) -> None:
    (finding,) = findings(run, STALE.format(job=job))
    assert (finding.mode, finding.index) == (None, None)
    assert findings(run, STALE.format(job=job), model=1) == []


def test_an_inference_whose_submission_failed_is_no_job(run: RunRecord, spoil) -> None:
    counts = dict.fromkeys(run.cells[0].inferences[0].stage.counts, 0)
    stage = replace(run.cells[0].inferences[0].stage, counts=counts)
    (finding,) = findings(spoil(0, 0, stage=stage, status="driver-error"), STALE.format(job=0))
    assert finding.index == 1


def test_other_noise_is_no_finding(run: RunRecord) -> None:
    assert findings(run, "harness-sim: npu-fault kind=hang job=1 happened=yes", "U-Boot 2026.01") == []
