"""The price of persistence: what a longer lifetime holds and costs, beside what it saves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.plan import Mode
from harness.results.equivalence import Saving
from harness.results.run_record import CellRecord, Instructions


@dataclass(frozen=True)
class Persistence:
    """What one mode costs that keeps something from one inference to the next."""

    mode: Mode
    held_bytes: int  #: of the DMA pool, the heap's temporary memory included, in use between inferences
    peak_bytes: int  #: the most bytes of the DMA pool in use at any time
    pool_bytes: int  #: the size of the DMA pool
    initialisation: Instructions  #: what init and destroy cost more than in the mode compared with
    saved_per_inference: float  #: instructions

    @property
    def pays_off_after(self) -> int | None:
        """Inferences until the saving has paid for the initialisation; None when it never does."""
        if self.saved_per_inference <= 0:
            return None
        return max(1, math.ceil(self.initialisation / self.saved_per_inference))

    @property
    def most_loaded(self) -> int:
        """How many models like this one the pool holds at once."""
        return self.pool_bytes // self.peak_bytes if self.peak_bytes else 0


def prices_of_persistence(
    cells: Sequence[CellRecord], savings: Sequence[Saving], pool_bytes: int
) -> tuple[Persistence, ...]:
    """One entry for each saving over the first cell's mode."""
    by_mode = {cell.mode: cell for cell in cells}
    return tuple(
        _price(by_mode[saving.before], by_mode[saving.after], saving, pool_bytes)
        for saving in savings
        if saving.before == cells[0].mode
    )


def _price(before: CellRecord, after: CellRecord, saving: Saving, pool_bytes: int) -> Persistence:
    around = [cell.init.cost + cell.destroy.cost for cell in (before, after)]
    return Persistence(
        mode=after.mode,
        held_bytes=after.pool_held + after.temp_held,
        peak_bytes=after.pool_peak,
        pool_bytes=pool_bytes,
        initialisation=Instructions(max(0, around[1] - around[0])),
        saved_per_inference=saving.before_instructions - saving.after_instructions,
    )
