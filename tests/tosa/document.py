"""docs/npu-tosa.md: which TOSA operators are proved, written from the corpus and from what is listed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from .corpus import MADE_WITH, read_corpus
from .listed import LISTED, REASONS

FILE = Path(__file__).parents[2] / "docs" / "npu-tosa.md"
COMMAND = "python -m tests.tosa"  #: rewrites FILE

TYPES = ("bool", "int8", "int16", "int32")

_HEAD = """# TOSA operators on the Ethos-U85 model, and their proof

`tests/tosa` has {cases} [TOSA](tosa.md) graphs of one operator, or of one with the RESCALE that belongs to
it, with {samples} input sets each (the ends of the range among them) and what Arm's TOSA reference model
(tosa-tools {version}) computed for them. Each graph is compiled by Vela 5.2 for 256 MACs and for one of the
other MAC counts, run on the model, and compared. Every case is **exact in every bit, except the {listed}
below**. The tests hold each exception to exactly what is written here, at both MAC counts. With Vela 5.1.0
all is the same. Nothing has been compared with Arm's hardware.

The type is that of the operator's input. Operators that TOSA has for 32 bits only, such as ADD, count under
the type of the inputs that are scaled up to them. An int16 convolution, product or bilinear resize has
accumulators of 48 bits, which its RESCALE takes.

| Operator | {types} |
| --- |{rules}
{operators}

A cell has the number of cases, and in brackets how many of them are exact if not all are.

TOSA has REDUCE_PRODUCT, SIGMOID, TANH and ERF for floating point only, which the Ethos-U85 does not compute;
a quantised one is a TABLE. Branches and loops are in `tests/models`, and networks of many operators among
the [ExecuTorch programs](executorch.md).

`tests/tosa/make.py` writes the corpus, in an environment of its own; with `HARNESS_TOSA_PYTHON` naming the
Python of one, `pytest -m proof tests/tosa` writes it anew and holds it against the committed one.
`{command}` writes this page.

## Exceptions

{exceptions}
"""


def render() -> str:
    """Return the page."""
    corpus = read_corpus()
    return _HEAD.format(
        cases=len(corpus),
        samples=min(case.samples for case in corpus.values()),
        version=json.loads(MADE_WITH.read_text())["tosa-tools"],
        listed=len(LISTED),
        types=" | ".join(TYPES),
        rules=" ---: |" * len(TYPES),
        operators="\n".join(_operators(corpus)),
        exceptions="\n\n".join(_exceptions()),
        command=COMMAND,
    )


def _operators(names: Iterable[str]) -> Iterable[str]:
    cases = Counter(tuple(name.split(".")[:2]) for name in names)
    listed = Counter(tuple(name.split(".")[:2]) for name in LISTED)
    for operator in sorted({operator for operator, _ in cases}):
        cells = [_cell(cases[operator, dtype], listed[operator, dtype]) for dtype in TYPES]
        yield f"| {operator.upper()} | {' | '.join(cells)} |"


def _cell(cases: int, listed: int) -> str:
    if not cases:
        return ""
    return f"{cases} ({cases - listed})" if listed else str(cases)


def _exceptions() -> Iterable[str]:
    for reason in REASONS:
        lines = [f"### {reason.title}", "", reason.text.strip(), ""]
        yield "\n".join(lines + [f"* `{name}`: {verdict}" for name, verdict in reason.cases.items()])
