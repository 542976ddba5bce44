"""What memory held before is seen where it shows in an output."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from harness.results.equivalence import Reference
from harness.results.run_record import RunRecord
from harness.results.state import POISON, fill_findings, unwritten_findings

NO_ORACLE = Reference("not compared", None)
POISONED = (bytes([POISON] * 2),)


def test_the_same_run_on_other_ram_leaves_nothing(run: RunRecord) -> None:
    assert [*fill_findings(run, run, 0xA5)] == []


def test_an_output_that_follows_the_ram_is_found(run: RunRecord, spoil) -> None:
    (finding,) = fill_findings(run, spoil(1, 2, outputs=(b"\x01\xa5",)), 0xA5)
    assert (finding.check, finding.index) == ("state-fill", 2)
    assert "filled with 0xa5 before the start, output 0 byte 1 is 0xa5 instead of 0x02" in finding.detail


def test_a_run_that_is_shorter_on_other_ram_is_found(run: RunRecord) -> None:
    (finding,) = fill_findings(run, replace(run, cells=run.cells[:1]), 0xA5)
    assert finding.detail == "with RAM filled with 0xa5, 1 of 2 cells completed"


def test_an_output_of_nothing_but_poison_was_not_written(run: RunRecord, spoil) -> None:
    (finding,) = unwritten_findings(spoil(0, 1, outputs=POISONED), NO_ORACLE)
    assert (finding.check, finding.index) == ("output-not-written", 1)


def test_an_output_with_one_byte_of_poison_was_written(spoil) -> None:
    assert [*unwritten_findings(spoil(0, 1, outputs=(bytes([POISON, 0]),)), NO_ORACLE)] == []


def test_an_output_that_is_poison_by_the_reference_was_written(spoil) -> None:
    digest = hashlib.sha256(POISONED[0]).hexdigest()
    reference = Reference("oracle", {"A": ("other",), "B": (digest,)})
    assert [*unwritten_findings(spoil(0, 1, outputs=POISONED), reference)] == []
