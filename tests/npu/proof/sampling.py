"""Choosing from a cross product: few rows, in which every pair of values of two axes occurs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

Row = dict[str, Any]

SEED = 85
DRAWN = 800  #: rows to choose from; a pair of values is in many of them
CANDIDATES = 40  #: rows looked at for each that is kept; more give slightly fewer rows


def all_pairs(axes: Mapping[str, Sequence[Any]], exists: Callable[..., bool] = lambda **_: True) -> list[Row]:
    """Return rows with one value from each axis, so that every pair of values from two axes is in one.

    Pairs that no row with `exists(**row)` has are left out.  The choice depends on the arguments alone: of
    some random rows, the one with most new pairs is kept, until there are none.
    """
    generator = np.random.default_rng(SEED)
    rows = [row for row in _drawn(axes, generator) if exists(**row)]
    useful = [(row, frozenset(_pairs(row))) for row in rows]
    missing = set().union(*(pairs for _, pairs in useful))
    kept = []
    while missing:
        useful = [entry for entry in useful if entry[1] & missing]
        looked_at = generator.integers(len(useful), size=CANDIDATES)
        row, pairs = max((useful[index] for index in looked_at), key=lambda entry: len(entry[1] & missing))
        kept.append(row)
        missing -= pairs
    return kept


def _drawn(axes: Mapping[str, Sequence[Any]], generator: np.random.Generator) -> list[Row]:
    """Return all rows, or some of them where there are more than DRAWN."""
    if math.prod(map(len, axes.values())) <= DRAWN:
        return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    choices = {name: generator.integers(len(values), size=DRAWN) for name, values in axes.items()}
    return [{name: axes[name][picks[row]] for name, picks in choices.items()} for row in range(DRAWN)]


def _pairs(row: Row) -> Iterable[tuple[str, str]]:
    items = [f"{name}={value}" for name, value in row.items()]
    return itertools.combinations(items, 2) if len(items) > 1 else [(items[0], "")]


def family(
    prefix: str,
    build: Callable[[Row], Any],
    axes: Mapping[str, Sequence[Any]],
    exists: Callable[..., bool] = lambda **_: True,
) -> dict[str, Any]:
    """Return what `build` makes of each row that is chosen, by name."""
    return {_case_name(prefix, row): build(row) for row in all_pairs(axes, exists)}


def _case_name(prefix: str, row: Row) -> str:
    """Return a name that tells the row: its values, with the axis in front of numbers."""
    return " ".join([prefix, *(_word(name, value) for name, value in row.items())])


def _word(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return name if value else f"no-{name}"
    if isinstance(value, tuple):
        return f"{name}:{'x'.join(map(str, value))}"
    return f"{name}:{value}"
