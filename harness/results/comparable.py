"""Whether two results may be held against each other: only where everything is alike but what is compared.

Cycles of another MAC count, compiler or model of the NPU are another quantity (pytorch/executorch#9830 and
#21459).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from harness.errors import UnlikeResults


@dataclass(frozen=True)
class Conditions:
    """What a result was got under."""

    source: str  #: simulator, fvp or hardware
    board_version: str  #: of the simulator or FVP, as it says it; empty for hardware
    macs: int
    compiler: str  #: its version and options; the options alone where a compiled model says no version
    model_sha256: str  #: of the model file

    def differences(self, other: Conditions) -> Iterator[str]:
        """Each condition in which the other is unlike, with both values."""
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if mine != theirs:
                yield f"{field.name.replace('_', ' ')} {mine!r} and {theirs!r}"


def require_comparable(before: Conditions, after: Conditions, what: str) -> None:
    """Raise UnlikeResults, which names every condition that differs; `what` says whose results they are."""
    if found := "; ".join(before.differences(after)):
        raise UnlikeResults(
            f"{what} are not compared, they were got under unlike conditions: {found}",
            hint="run both on the same board with the same model file and compiler",
        )
