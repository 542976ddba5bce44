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
    copies: int  #: how often the model was loaded; the bytes below are the sum over all that was loaded
    held_pool_bytes: int  #: of the DMA pool, in use between inferences
    held_temp_bytes: int  #: of temporary memory, in use between inferences
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
    def held_bytes(self) -> int:
        """All that is in use between inferences."""
        return self.held_pool_bytes + self.held_temp_bytes

    @property
    def most_loaded(self) -> int | None:
        """How often the model can be loaded before the pool ends; None when it holds nothing of the pool."""
        if self.held_pool_bytes == 0:
            return None
        passing = self.peak_bytes - self.held_pool_bytes
        return (self.pool_bytes - passing) * self.copies // self.held_pool_bytes


def prices_of_persistence(
    cells: Sequence[CellRecord], savings: Sequence[Saving], pool_bytes: int, copies: int
) -> tuple[Persistence, ...]:
    """One entry for each saving over the first cell's mode."""
    by_mode = {cell.mode: cell for cell in cells}
    return tuple(
        _price(by_mode[saving.before], by_mode[saving.after], saving, pool_bytes, copies)
        for saving in savings
        if saving.before == cells[0].mode
    )


def _price(
    before: CellRecord, after: CellRecord, saving: Saving, pool_bytes: int, copies: int
) -> Persistence:
    around = [cell.init.cost + cell.destroy.cost for cell in (before, after)]
    return Persistence(
        mode=after.mode,
        copies=copies,
        held_pool_bytes=after.pool_held,
        held_temp_bytes=after.temp_held,
        peak_bytes=after.pool_peak,
        pool_bytes=pool_bytes,
        initialisation=Instructions(max(0, around[1] - around[0])),
        saved_per_inference=saving.before_instructions - saving.after_instructions,
    )
