"""What a lifetime may create, map and hold, and what was found beyond it.

leak            something was left when its cell had ended; the finding names it and where it was created
live-objects    driver objects or pool memory were left, by the driver's own count, that no leak names
objects         an inference created other objects than its lifetime allows
maps            memory was mapped more or less often than unmapped, or within an inference that needed none
high-water      memory in use after an inference, or at its peak, grows from one inference to the next
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.plan import DriverLifetime, IoLifetime
from harness.results.finding import Finding
from harness.results.run_record import CellRecord

KEPT_OBJECTS = {"networks": 0, "buffers": 0, "inferences": 1}
"""What one inference creates when the driver objects are kept: there is no call that runs a job again."""

POOL_OBJECT = "memory"  #: the kind of object whose size is bytes of the pool


def resource_findings(cells: Sequence[CellRecord]) -> Iterator[Finding]:
    """All findings about resources, cell by cell."""
    for cell in cells:
        yield from _leaks(cell)
        yield from _unnamed(cell, [each for each in cells if each.cell == cell.cell])
        yield from _objects(cell)
        yield from _maps(cell)
        yield from _high_water(cell)


def _leaks(cell: CellRecord) -> Iterator[Finding]:
    for leak in cell.leaks:
        detail = f"a {leak.kind} of {leak.size} bytes, created in {leak.step}, was left at the end"
        yield Finding("leak", cell.mode, None, detail)


def _unnamed(cell: CellRecord, loaded: Sequence[CellRecord]) -> Iterator[Finding]:
    """What is left when all models of the cell are gone; `loaded` are their records."""
    leaks = [leak for each in loaded for leak in each.leaks]
    named = sum(leak.size for leak in leaks if leak.kind == POOL_OBJECT)
    if (cell.live_objects, cell.pool_used) != (len(leaks), named):
        left = f"{cell.live_objects} objects and {cell.pool_used} bytes of the pool were left at the end"
        detail = f"{left}, of which {len(leaks)} objects and {named} bytes are named"
        yield Finding("live-objects", cell.mode, None, detail)


def _objects(cell: CellRecord) -> Iterator[Finding]:
    completed = [inference for inference in cell.inferences if inference.status == "ok"]
    for inference in completed:
        created = {name: inference.stage.counts[name] for name in KEPT_OBJECTS}
        kept = cell.mode.driver is DriverLifetime.PERSISTENT
        allowed = KEPT_OBJECTS if kept else {name: completed[0].stage.counts[name] for name in KEPT_OBJECTS}
        if created != allowed:
            detail = f"created {_listed(created)}; its lifetime allows {_listed(allowed)}"
            yield Finding("objects", cell.mode, inference.index, detail)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _maps(cell: CellRecord) -> Iterator[Finding]:
    stages = [cell.init, *(inference.stage for inference in cell.inferences), cell.destroy]
    maps, unmaps = (sum(stage.counts[name] for stage in stages) for name in ("maps", "unmaps"))
    if maps != unmaps:
        yield Finding("maps", cell.mode, None, f"{maps} maps, but {unmaps} unmaps")
    if (cell.mode.driver, cell.mode.io) == (DriverLifetime.PERSISTENT, IoLifetime.PERSISTENT):
        for inference in cell.inferences:
            if inference.stage.counts["maps"]:
                detail = f"{inference.stage.counts['maps']} maps, although its memory stays mapped"
                yield Finding("maps", cell.mode, inference.index, detail)


def _high_water(cell: CellRecord) -> Iterator[Finding]:
    """The first inference may grow a cache; from the second on nothing may."""
    for earlier, later in zip(cell.inferences[1:], cell.inferences[2:], strict=False):
        if "ok" == earlier.status == later.status and earlier.stage.memory != later.stage.memory:
            detail = f"{later.stage.memory}, after inference {earlier.index} {earlier.stage.memory}"
            yield Finding("high-water", cell.mode, later.index, detail)
