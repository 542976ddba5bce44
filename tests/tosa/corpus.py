"""The corpus: TOSA graphs of one operator, input sets, and what Arm's TOSA reference model computed for them.

make.py wrote it, with the versions in made_with.json. Names are OPERATOR.TYPE.VARIANT.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).with_name("corpus.npz")
MADE_WITH = Path(__file__).with_name("made_with.json")

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """A graph, its input sets and their outputs: an array for each tensor, samples along its first axis."""

    name: str
    graph: bytes
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]

    @property
    def samples(self) -> int:
        return len(self.outputs[0])

    @property
    def operator(self) -> str:
        return self.name.split(".")[0]

    @property
    def dtype(self) -> str:
        return self.name.split(".")[1]


def read_corpus(path: Path = FILE) -> dict[str, Case]:
    """Every case by its name."""
    found: dict[str, dict[str, Array]] = defaultdict(dict)
    with np.load(path) as arrays:
        for key in arrays.files:
            name, _, part = key.rpartition("/")
            found[name][part] = arrays[key]
    return {
        name: Case(name, parts["graph"].tobytes(), _numbered(parts, "input"), _numbered(parts, "output"))
        for name, parts in found.items()
    }


def _numbered(parts: dict[str, Array], kind: str) -> tuple[Array, ...]:
    return tuple(parts[f"{kind}{index}"] for index in range(sum(key.startswith(kind) for key in parts)))
