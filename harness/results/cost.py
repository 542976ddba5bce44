"""Where a saving comes from: objects and bytes, at the price that the calibration programs measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.results.run_record import CellRecord, Instructions


@dataclass(frozen=True)
class Prices:
    """CPU instructions for one more of each resource count; the keys are those of `Stage.counts`."""

    instructions: Mapping[str, float]


@dataclass(frozen=True)
class Explanation:
    """A saving held against the resource counts that should account for it."""

    saved: Instructions  #: measured, per inference
    parts: Mapping[str, float]  #: the instructions that each resource count accounts for

    @property
    def residual_percent(self) -> float:
        """What the counts do not account for, in percent of the saving."""
        return 100.0 * (self.saved - sum(self.parts.values())) / self.saved if self.saved else 0.0


def explain(before: CellRecord, after: CellRecord, prices: Prices) -> Explanation | None:
    """Account for the difference between the last inference of two cells; None when either has none."""
    if not before.inferences or not after.inferences:
        return None
    left, right = before.inferences[-1].stage, after.inferences[-1].stage
    parts = {
        name: (left.counts[name] - right.counts[name]) * price for name, price in prices.instructions.items()
    }
    return Explanation(Instructions(left.cost - right.cost), parts)
