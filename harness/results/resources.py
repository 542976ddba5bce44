"""What a lifetime may create, map and hold, and what was found beyond it.

leak            something was left when its cell had ended; the finding names it and where it was created
live-objects    driver objects or pool memory were left, by the driver's own count, that no leak names
objects         an inference created other objects than its lifetime allows, and its model needs
maps            memory was mapped more or less often than unmapped, or than an inference needed
allocations     an inference took more or less temporary memory than its model needs
high-water      memory in use after an inference, or at its peak, grows from one inference to the next
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.models.compiled import CompiledModel
from harness.plan import DriverLifetime, IoLifetime, Scratch
from harness.results.finding import Finding
from harness.results.run_record import CellRecord, Inference

KEPT_OBJECTS = {"networks": 0, "buffers": 0, "inferences": 1}
"""What one inference creates when the driver objects are kept: there is no call that runs a job again."""

POOL_OBJECT = "memory"  #: the kind of object whose size is bytes of the pool


@dataclass(frozen=True)
class Needs:
    """What one inference of a model takes when nothing is kept."""

    objects: Mapping[str, int]  #: as KEPT_OBJECTS
    maps: int  #: each tensor's memory, once, and a variable's twice when it is saved and put back
    allocations: int  #: of temporary memory, new or kept: a staging copy of each tensor, and maybe scratch
    spared_maps: int = 0  #: of the maps, those that kept driver objects spare: variables stay in them


def needs_of(model: CompiledModel, scratch: Scratch, *, keep_state: bool = False) -> Needs:
    """What a model needs with scratch memory of this kind, its variables kept or reset."""
    tensors = len(model.inputs) + len(model.outputs)
    temporary = int(model.scratch_size > 0 and scratch is Scratch.TEMP)
    variables = len(model.variables)
    needs_no_map = model.io_is_in_scratch and temporary
    buffers = int(len(model.weights) > 0) + int(model.scratch_size > 0) - temporary
    return Needs(
        objects={
            "networks": 1,
            "buffers": buffers if model.io_is_in_scratch else buffers + tensors,
            "inferences": 1,
        },
        maps=0 if needs_no_map else tensors + variables * (2 if keep_state else 1),
        allocations=tensors + temporary,
        spared_maps=0 if needs_no_map or not keep_state else 2 * variables,
    )


def resource_findings(cells: Sequence[CellRecord], needs: Needs | None = None) -> Iterator[Finding]:
    """All findings about resources, cell by cell.

    `needs` are those of the model; without them, what an inference may take is what the first one took.
    """
    for cell in cells:
        yield from _leaks(cell)
        yield from _unnamed(cell, [each for each in cells if each.cell == cell.cell])
        completed = [inference for inference in cell.inferences if inference.status == "ok"]
        if completed:
            yield from _taken(cell, completed, needs or _needs_of_first(completed[0]))
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


def _needs_of_first(inference: Inference) -> Needs:
    counts = inference.stage.counts
    objects = {name: counts[name] for name in KEPT_OBJECTS}
    return Needs(objects, counts["maps"], _temporary_blocks(inference))


def _temporary_blocks(inference: Inference) -> int:
    return inference.stage.counts["allocations"] + inference.stage.counts["reused"]


def _taken(cell: CellRecord, completed: Sequence[Inference], needs: Needs) -> Iterator[Finding]:
    kept = cell.mode.driver is DriverLifetime.PERSISTENT
    allowed = KEPT_OBJECTS if kept else needs.objects
    needed = needs.maps - needs.spared_maps if kept else needs.maps
    maps = 0 if cell.mode.io is IoLifetime.PERSISTENT else needed
    for inference in completed:
        counts = inference.stage.counts
        created = {name: counts[name] for name in KEPT_OBJECTS}
        if created != allowed:
            detail = f"created {_listed(created)}; its lifetime allows {_listed(allowed)}"
            yield Finding("objects", cell.mode, inference.index, detail)
        if counts["maps"] != maps:
            detail = f"{counts['maps']} maps, where its lifetime needs {maps}"
            yield Finding("maps", cell.mode, inference.index, detail)
        if (blocks := _temporary_blocks(inference)) != needs.allocations:
            detail = f"{blocks} blocks of temporary memory, where its model needs {needs.allocations}"
            yield Finding("allocations", cell.mode, inference.index, detail)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _maps(cell: CellRecord) -> Iterator[Finding]:
    stages = [cell.init, *(inference.stage for inference in cell.inferences), cell.destroy]
    maps, unmaps = (sum(stage.counts[name] for stage in stages) for name in ("maps", "unmaps"))
    if maps != unmaps:
        yield Finding("maps", cell.mode, None, f"{maps} maps, but {unmaps} unmaps")


def _high_water(cell: CellRecord) -> Iterator[Finding]:
    """The first inference may grow a cache; from the second on nothing may."""
    for earlier, later in zip(cell.inferences[1:], cell.inferences[2:], strict=False):
        if "ok" == earlier.status == later.status and earlier.stage.memory != later.stage.memory:
            detail = f"{later.stage.memory}, after inference {earlier.index} {earlier.stage.memory}"
            yield Finding("high-water", cell.mode, later.index, detail)
