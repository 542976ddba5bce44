"""Each check of the comparison catches the defect that is its own, and passes a sound run."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from harness.plan import DRIVER_PERSISTENT
from harness.results.equivalence import Reference, compare
from harness.results.run_record import Fault, Instructions, RunRecord

CLOCK_HZ = 1_000_000_000
ORACLE = Reference(
    "oracle",
    {
        "A": (hashlib.sha256(b"\x01\x02").hexdigest(),),
        "B": (hashlib.sha256(b"\x03\x04").hexdigest(),),
    },
)


def checks(run: RunRecord, reference: Reference = ORACLE) -> set[str]:
    return {finding.check for finding in compare(run, reference, CLOCK_HZ).findings}


def test_a_sound_run_passes_every_check(run: RunRecord) -> None:
    comparison = compare(run, ORACLE, CLOCK_HZ)
    assert comparison.passed
    assert comparison.outputs_identical
    assert comparison.npu_cycles_identical
    assert comparison.reference_equal is True


def test_the_saving_leaves_out_the_wait_and_the_first_inference(run: RunRecord, spoil) -> None:
    slow_start = spoil(0, 0, stage=replace(run.cells[0].inferences[0].stage, phases={}))
    comparison = compare(replace(run, cells=run.cells), ORACLE, CLOCK_HZ)
    assert comparison.cpu_saved_percent == pytest.approx(100 * (1 - 120 / 1020))
    assert slow_start.cells[0].inferences[1:] == run.cells[0].inferences[1:]


def test_a_second_a_that_differs_from_the_first_is_found(spoil) -> None:
    assert "outputs-repeat" in checks(spoil(1, 2, outputs=(b"\x01\xff",)), Reference("none", None))


def test_an_output_that_differs_between_modes_is_found(spoil) -> None:
    assert checks(spoil(1, 1, outputs=(b"\x03\xff",)), Reference("none", None)) == {"outputs-modes"}


def test_outputs_wrong_in_both_modes_alike_are_found_by_the_reference_only(run: RunRecord) -> None:
    cells = tuple(
        replace(
            cell,
            inferences=(
                cell.inferences[0],
                replace(cell.inferences[1], outputs=(b"xx",)),
                cell.inferences[2],
            ),
        )
        for cell in run.cells
    )
    assert checks(replace(run, cells=cells)) == {"outputs-reference"}


def test_cycles_that_grow_within_a_cell_are_found(spoil) -> None:
    assert checks(spoil(0, 2, npu_cycles=10000, elapsed_ns=10040)) == {"npu-cycles"}


def test_cycles_read_before_the_end_are_found_even_when_alike_everywhere(run: RunRecord) -> None:
    cells = tuple(
        replace(cell, inferences=tuple(replace(each, npu_cycles=400) for each in cell.inferences))
        for cell in run.cells
    )
    assert checks(replace(run, cells=cells)) == {"npu-cycles-time"}


def test_zero_cycles_after_work_are_found(run: RunRecord) -> None:
    cells = tuple(
        replace(
            cell, inferences=tuple(replace(each, npu_cycles=0, elapsed_ns=10) for each in cell.inferences)
        )
        for cell in run.cells
    )
    assert checks(replace(run, cells=cells)) == {"npu-cycles-zero"}


def test_a_longer_lifetime_that_costs_more_is_found(run: RunRecord) -> None:
    dear = {**run.cells[1].inferences[0].stage.phases, "create": Instructions(2000)}
    stage = replace(run.cells[1].inferences[0].stage, phases=dear)
    cell = replace(
        run.cells[1], inferences=tuple(replace(each, stage=stage) for each in run.cells[1].inferences)
    )
    assert checks(replace(run, cells=(run.cells[0], cell))) == {"cpu-direction"}


def test_a_left_object_is_found_with_its_mode(run: RunRecord) -> None:
    leaky = replace(run, cells=(run.cells[0], replace(run.cells[1], live_objects=1)))
    (finding,) = compare(leaky, ORACLE, CLOCK_HZ).findings
    assert (finding.check, finding.mode) == ("live-objects", DRIVER_PERSISTENT)


def test_a_fault_is_a_finding_that_counts_as_faulted(run: RunRecord) -> None:
    faulty = replace(run, status="fault", faults=(Fault(0, 1, "npu", {"status": "10"}),))
    comparison = compare(faulty, ORACLE, CLOCK_HZ)
    assert comparison.faulted
    assert not comparison.outputs_identical


def test_a_failed_inference_is_never_equal(spoil) -> None:
    comparison = compare(spoil(1, 1, status="timeout", outputs=()), ORACLE, CLOCK_HZ)
    assert not comparison.passed
    assert comparison.reference_equal is False


def test_no_reference_is_not_a_comparison(run: RunRecord) -> None:
    comparison = compare(run, Reference("not compared", None, "no oracle"), CLOCK_HZ)
    assert comparison.reference_equal is None


def test_a_run_without_inferences_is_not_identical(run: RunRecord) -> None:
    empty = replace(run, cells=tuple(replace(cell, inferences=()) for cell in run.cells))
    assert not compare(empty, ORACLE, CLOCK_HZ).outputs_identical


INJECTED = {1: "timeout"}


@pytest.fixture
def injected(run: RunRecord) -> RunRecord:
    """The run, with an injected timeout in the second inference of each cell."""
    cells = [
        replace(
            cell,
            status="timeout",
            inferences=tuple(
                replace(each, status="timeout", outputs=()) if each.index == 1 else each
                for each in cell.inferences
            ),
        )
        for cell in run.cells
    ]
    faults = tuple(Fault(number, 1, "timeout", {}) for number in range(len(cells)))
    return replace(run, status="fault", cells=tuple(cells), faults=faults)


def statuses(run: RunRecord) -> list[int | None]:
    return [finding.index for finding in compare(run, ORACLE, CLOCK_HZ, INJECTED).findings]


def test_a_fault_that_was_injected_and_seen_is_no_finding(injected: RunRecord) -> None:
    assert statuses(injected) == []


def test_a_fault_that_was_injected_and_not_seen_is_found(run: RunRecord) -> None:
    assert statuses(run) == [1, None, 1, None]


def test_a_fault_elsewhere_than_where_it_was_injected_is_found(injected: RunRecord) -> None:
    assert statuses(replace(injected, faults=(*injected.faults, Fault(0, 2, "npu", {})))) == [2]


def test_an_exception_is_never_what_was_injected(injected: RunRecord) -> None:
    assert statuses(replace(injected, faults=(*injected.faults, Fault(0, 1, "exception", {})))) == [1]
