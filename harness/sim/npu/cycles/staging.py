"""Which operations fetch weights and scales that the stream has copied itself, and where from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from harness.sim.npu.cycles.work import DmaWork, KernelWork, Memory, Place, WeightTraffic, Work


def with_origins(work: Iterable[Work]) -> Iterator[Work]:
    """Return the same work, with `copied_from` filled in where an earlier DMA transfer brought the scales.

    Vela copies the weights and scales of an operation in one transfer.
    """
    copies: list[DmaWork] = []
    for item in work:
        match item:
            case DmaWork(place=Place()):
                copies.append(item)
                yield item
            case KernelWork(weights=WeightTraffic() as weights):
                origin = _origin(weights.scale_place, copies)
                yield replace(item, weights=replace(weights, copied_from=origin))
            case _:
                yield item


def _origin(sought: Place, copies: Sequence[DmaWork]) -> Memory | None:
    """The memory that the latest transfer to a place came from; None when there was none."""
    for copy in reversed(copies):
        place = copy.place
        if (
            place is not None
            and place.region == sought.region
            and 0 <= sought.offset - place.offset < copy.size
        ):
            return copy.source
    return None
