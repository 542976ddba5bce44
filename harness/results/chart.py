"""CPU instructions by phase and mode as stacked bars, in fractions of one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.plan import Mode
from harness.results.report import ModelReport
from harness.results.run_record import COST_PHASES
from harness.results.summary import cell_in, warm_inference

_MOST_TICKS = 6


@dataclass(frozen=True)
class Segment:
    """One phase's share of a bar."""

    phase: str
    instructions: int
    start: float  #: fraction of the scale
    length: float  #: fraction of the scale


@dataclass(frozen=True)
class Bar:
    """One mode; without segments where no inference was warm."""

    mode: Mode
    segments: tuple[Segment, ...]

    @property
    def instructions(self) -> int:
        """The whole bar."""
        return sum(segment.instructions for segment in self.segments)


@dataclass(frozen=True)
class Tick:
    """A line across the bars."""

    instructions: int
    at: float  #: fraction of the scale


@dataclass(frozen=True)
class Chart:
    """The bars of one model, on a scale from 0 to its longest bar or just above."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]


def chart(model: ModelReport, modes: Sequence[Mode]) -> Chart | None:
    """The chart of one model in these modes; None where no inference was warm, or none cost anything."""
    costs = {mode: _phases(model, mode) for mode in modes}
    longest = max((sum(phases.values()) for phases in costs.values()), default=0)
    if longest == 0:
        return None
    step = _step(longest)
    scale = step * math.ceil(longest / step)
    ticks = tuple(Tick(value, value / scale) for value in range(0, scale + 1, step))
    return Chart(tuple(Bar(mode, _segments(phases, scale)) for mode, phases in costs.items()), ticks)


def _phases(model: ModelReport, mode: Mode) -> dict[str, int]:
    warm = warm_inference(cell_in(model, mode))
    return {} if warm is None else {phase: warm.stage.phases[phase] for phase in COST_PHASES}


def _segments(phases: dict[str, int], scale: int) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    start = 0
    for phase, instructions in phases.items():
        if instructions:
            segments.append(Segment(phase, instructions, start / scale, instructions / scale))
        start += instructions
    return tuple(segments)


def _step(longest: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that needs no more than the most ticks."""
    step = 1
    # 1, 2, 5 and 10 grow by 2, 2.5 and 2; what begins with 2 is the one that grows by 2.5.
    while step * (_MOST_TICKS - 1) < longest:
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    return step
