"""What memory held before must not show in what comes out.

state-fill          an inference came out otherwise when RAM was filled with other bytes before the start
output-not-written  an output is what the runner overwrites outputs with before each inference
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.results.equivalence import Reference, first_difference
from harness.results.finding import Finding
from harness.results.run_record import RunRecord

POISON = 0xA5  #: as firmware/runner/cell.c has it


def fill_findings(run: RunRecord, refilled: RunRecord, fill: int) -> Iterator[Finding]:
    """Hold a run against the same image's run on RAM that was filled with `fill` before the start."""
    for cell, again in zip(run.cells, refilled.cells, strict=False):
        for one, other in zip(cell.inferences, again.inferences, strict=False):
            if one.status != other.status:
                difference = f"it ended with {other.status} instead of {one.status}"
            else:
                difference = first_difference(one.outputs, other.outputs)
            if difference:
                detail = f"with RAM filled with {fill:#04x} before the start, {difference}"
                yield Finding("state-fill", cell.mode, one.index, detail)
    if len(run.cells) != len(refilled.cells):
        detail = (
            f"with RAM filled with {fill:#04x}, {len(refilled.cells)} of {len(run.cells)} cells completed"
        )
        yield Finding("state-fill", None, None, detail)


def unwritten_findings(run: RunRecord, reference: Reference) -> Iterator[Finding]:
    """Outputs of completed inferences that are poison from end to end, unless the reference has the same."""
    for cell in run.cells:
        for inference in cell.inferences:
            right = reference.digests[inference.input] if reference.digests else ()
            if inference.digests == right:
                continue
            for number, output in enumerate(inference.outputs):
                if set(output) == {POISON}:
                    detail = f"output {number} holds nothing but {POISON:#04x}, as before the inference"
                    yield Finding("output-not-written", cell.mode, inference.index, detail)
