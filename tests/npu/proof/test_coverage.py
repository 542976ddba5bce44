"""The proof exercises no fewer encodings than it did, and the document says what it does."""

from __future__ import annotations

import pytest

from harness.sim.npu.opcodes import CMD0

from . import coverage, document

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def lines(compiled):
    return coverage.exercised(compiled)


def test_no_encoding_is_lost(lines):
    lost = set(coverage.FILE.read_text().splitlines()) - lines
    assert not lost, f"no case exercises these any more; if that is right, run {coverage.COMMAND}"


def test_document_is_current():
    stored = coverage.FILE.read_text().splitlines()
    assert document.FILE.read_text() == document.render(stored), f"run {coverage.COMMAND}"


def test_missing_encoding_is_named():
    lines = {f"{encoding.name}.x 0" for encoding in CMD0.values()}
    assert "OFM_BASE0" in coverage.never_exercised(lines)
    assert "OP_POOL.mode MAX" in coverage.never_exercised(lines)
    assert "OP_POOL.mode MAX" not in coverage.never_exercised(lines | {"OP_POOL.mode MAX"})
