"""docs/npu-operators.md: what is proved of the NPU model, written from the cases and their coverage."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from .cases import CASES
from .coverage import COMMAND, never_exercised
from .listed import LISTED, REASONS

FILE = Path(__file__).parents[3] / "docs" / "npu-operators.md"

_HEAD = """# Operators of the Ethos-U85 model, and their proof

`tests/npu/proof` has {cases} networks of one operator. Each is compiled by Vela 5.2 for one of the five MAC
counts, run on the model with seeded inputs (the extremes among them), and compared with tflite-micro; an
operator that tflite-micro lacks is compared with its definition in numpy. Every case is **exact in every
bit, except the {listed} below**. The tests hold each exception to exactly the difference that is written
here. With Vela 5.1.0 all is the same but ELU and GELU, which that version leaves on the CPU. Nothing has been
compared with Arm's hardware or Arm's model.

Of the cross product of element types, shapes, strides, dilations, paddings, broadcasts and activations a
seeded sample is taken in which every pair of two values occurs (`sampling.py`). Sizes, strides and channels
of 150 more operators with a kernel are drawn freely (`drawn.py`).
`{command}` writes this page.

| Operator | cases | exact |
| --- | ---: | ---: |
{operators}

## Exceptions

{exceptions}

## Encodings

What the compiled cases, the four reference networks, the [TOSA graphs](npu-tosa.md) and eleven [ExecuTorch
programs](executorch.md) contain. Numbers of more than six bits, and shifts, are told apart as zero, small
(below 256) and large.

| Field | values exercised |
| --- | --- |
{fields}

### Never exercised

No case, network, graph or program has one of these. For those marked * no input of the compiler is
known, and they stop the NPU with a named fault; the others are modelled by their public definition.

{missing}

Further named faults: AVERAGE pooling with a scale other than one or in parts, resizes that start from
IFM2, accumulators that overflow, a division by zero, a jump that depends on several elements, ARGMAX over
two axes at once, kernels cut into 4x4, an OFM that is transposed and reversed at once.
"""

_FAULTS = (
    "KERNEL_STRIDE.decomposition D4X4",
    "IFM_PRECISION.storage TILE3X1",
    "IFM2_PRECISION.storage TILE3X1",
    "OFM_PRECISION.storage TILE3X1",
    "IFM_PRECISION.storage NONE",
    "IFM_PRECISION.precision B64",
    "OP_PMU_MASK",
)
"""What the model refuses of the encodings that no case has."""


def render(coverage: Sequence[str]) -> str:
    """Return the page for the coverage's lines."""
    return _HEAD.format(
        cases=len(CASES),
        listed=len(LISTED),
        command=COMMAND,
        operators="\n".join(_operators()),
        exceptions="\n\n".join(_exceptions()),
        fields="\n".join(_fields(coverage)),
        missing="\n".join(_missing(coverage)),
    )


def _operators() -> Iterable[str]:
    cases = Counter(operator.kind for operator in CASES.values())
    listed = Counter(CASES[name].kind for name in LISTED)
    for kind, count in sorted(cases.items()):
        yield f"| {kind} | {count} | {count - listed[kind]} |"


def _exceptions() -> Iterable[str]:
    for reason in REASONS:
        lines = [f"### {reason.title}", "", reason.text.strip(), ""]
        yield "\n".join(lines + [f"* `{name}`: {verdict}" for name, verdict in reason.cases.items()])


def _fields(coverage: Sequence[str]) -> Iterable[str]:
    values = defaultdict(list)
    for line in coverage:
        field, _, value = line.partition(" ")
        values[field].append(value)
    for field, found in values.items():
        yield f"| {field} | {' '.join(found)} |"


def _missing(coverage: Sequence[str]) -> Iterable[str]:
    return (f"* `{line}`{' *' if line in _FAULTS else ''}" for line in never_exercised(coverage))
