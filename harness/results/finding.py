"""One thing that a check found not to be as it must be."""

from __future__ import annotations

from dataclasses import dataclass

from harness.plan import Mode


@dataclass(frozen=True)
class Finding:
    """What was found, by which check, where. `mode` and `index` are None where they do not apply."""

    check: str
    mode: Mode | None
    index: int | None  #: of the inference
    detail: str
    implementation: str = ""  #: the driver implementation, where several were run

    def __str__(self) -> str:
        place = f" {self.implementation}" if self.implementation else ""
        place += "" if self.mode is None else f" [{self.mode}]"
        place += "" if self.index is None else f" inference {self.index}"
        return f"{self.check}{place}: {self.detail}"
