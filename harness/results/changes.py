"""What a longer lifetime changes: each axis alone, and all of them together, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.plan import Mode
from harness.results.equivalence import Saving
from harness.results.report import ModelReport
from harness.results.summary import AXES, Summary, cell_in, value_on, warm_inference

HOST_TIME_NOTE = (
    "The time of mapping and of allocating depends on a host's kernel and heap: "
    "the counts carry over, these instructions do not."
)

_COUNT_NAMES = {
    "networks": "networks created",
    "buffers": "buffers created",
    "inferences": "inferences created",
    "copied": "bytes copied",
    "zeroed": "bytes zeroed",
    "cleaned": "bytes cleaned",
    "invalidated": "bytes invalidated",
    "pages": "page table entries written",
    "tlb": "TLB operations",
    "reused": "kept blocks reused",
}


@dataclass(frozen=True)
class Effect:
    """What a change did to one model, per inference once warm."""

    model: str
    saving: Saving | None  #: None where no instructions were compared
    counts: Mapping[str, tuple[int, int]]  #: before and after, for each count that both modes report

    def moved(self, count: str) -> bool:
        """Whether the change reached this count."""
        before, after = self.counts.get(count, (0, 0))
        return before != after


@dataclass(frozen=True)
class Change:
    """One step from the first mode to another."""

    axes: tuple[str, ...]
    before: Mode
    after: Mode
    effects: tuple[Effect, ...]  #: one for each model that was run in both modes

    @property
    def title(self) -> str:
        """The axes that change, and how."""
        return ", ".join(
            f"{axis} {value_on(self.before, axis)} → {value_on(self.after, axis)}" for axis in self.axes
        )

    @property
    def is_driver(self) -> bool:
        """Whether driver objects alone change: the one step whose saving is shown in percent."""
        return self.axes == ("driver",)

    @property
    def counts(self) -> tuple[str, ...]:
        """The counts that the step changes for some model."""
        names = dict.fromkeys(name for effect in self.effects for name in effect.counts)
        return tuple(name for name in names if any(effect.moved(name) for effect in self.effects))


def changes(summary: Summary) -> tuple[Change, ...]:
    """The steps from the first mode that change one axis, then the one that changes all that vary."""
    return tuple(
        sorted(_steps(summary), key=lambda change: (len(change.axes), *map(AXES.index, change.axes)))
    )


def count_name(count: str) -> str:
    """A resource count in words."""
    return _COUNT_NAMES.get(count, count.replace("_", " "))


def _steps(summary: Summary) -> Iterator[Change]:
    for after in summary.modes[1:]:
        before = summary.modes[0]
        axes = tuple(axis for axis in AXES if value_on(before, axis) != value_on(after, axis))
        if len(axes) == 1 or axes == summary.axes:
            effects = (_effect(model.report, before, after) for model in summary.models)
            yield Change(axes, before, after, tuple(effect for effect in effects if effect is not None))


def _effect(model: ModelReport, before: Mode, after: Mode) -> Effect | None:
    first, second = warm_inference(cell_in(model, before)), warm_inference(cell_in(model, after))
    if first is None or second is None or model.comparison is None:
        return None
    savings = {(saving.before, saving.after): saving for saving in model.comparison.savings}
    then, now = first.stage.counts, second.stage.counts
    return Effect(
        model=model.name,
        saving=savings.get((before, after)),
        counts={name: (value, now[name]) for name, value in then.items() if name in now},
    )
