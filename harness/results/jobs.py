"""The NPU's jobs, which the board counts over a whole run, as the inferences that started them."""

from __future__ import annotations

from harness.results.run_record import CellRecord, Inference, Place, RunRecord


def started_jobs(run: RunRecord) -> list[tuple[CellRecord, Inference]]:
    """Every job that the NPU was given, in order."""
    started = [
        (cell.cell, inference.index, cell, inference)
        for cell in run.cells
        for inference in cell.inferences
        if inference.stage.counts["inferences"]
    ]
    return [(cell, inference) for _, _, cell, inference in sorted(started, key=lambda job: job[:2])]


def places_at(cell: CellRecord, inference: Inference) -> dict[str, Place]:
    """Where the NPU found each buffer in an inference: what was last said of it by then."""
    return {
        place.name: place
        for place in sorted(cell.places, key=lambda place: -1 if place.index is None else place.index)
        if place.index is None or place.index <= inference.index
    }
