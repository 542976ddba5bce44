"""The cost of each stage, added up over the records that tell it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from harness.console.protocol import Record
from harness.errors import ConsoleError
from harness.results.run_record import COUNTS, PHASES, Instructions, Memory, Stage

StageKey = tuple[int, str, int]
"""Slot, stage ("init", "infer" or "destroy") and index of the inference, 0 for the other two."""

_KEYS = frozenset({"cell", "slot", "stage", "index", "total"})
_MEMORY = tuple(each.name for each in fields(Memory))


@dataclass
class _StageSum:
    """Phases, counts and memory of one stage so far."""

    phases: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PHASES, 0))
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    memory: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_MEMORY, 0))
    total: int | None = None

    def add(self, record: Record) -> None:
        sums = {"phases": self.phases, "counts": self.counts, "memory": self.memory}[record.type]
        if "total" in record.fields:
            self.total = record.number("total")
        for key in record.fields.keys() - _KEYS:
            if key not in sums:
                raise ConsoleError(
                    f"console line {record.line}: unknown key {key!r} in record {record.type!r}"
                )
            sums[key] += record.number(key)

    def finish(self, where: str) -> Stage:
        if self.total is None:
            raise ConsoleError(f"{where}: no total of its phases was reported")
        if self.total != sum(self.phases.values()):
            raise ConsoleError(f"{where}: its phases sum to {sum(self.phases.values())}, not to {self.total}")
        phases = {name: Instructions(value) for name, value in self.phases.items()}
        return Stage(phases, self.counts, Memory(**self.memory))


class Stages:
    """The stages of one cell."""

    def __init__(self, cell: str, records: Iterable[Record]) -> None:
        """Add up the `phases`, `counts` and `memory` records among `records`. Raises ConsoleError."""
        self._cell = cell
        self._sums: dict[StageKey, _StageSum] = {}
        for record in records:
            if record.type in ("phases", "counts", "memory"):
                key = record.number("slot"), record.text("stage"), record.number("index")
                self._sums.setdefault(key, _StageSum()).add(record)

    def finished(self, slot: int, stage: str, index: int = 0) -> Stage:
        """One stage; ConsoleError when it was not reported, or its phases do not sum to their total."""
        where = f"cell {self._cell}, slot {slot}, {stage} {index}"
        if (slot, stage, index) not in self._sums:
            raise ConsoleError(f"{where}: its cost was not reported")
        return self._sums[slot, stage, index].finish(where)
