"""The cases that are not exact, as listed.toml has them: grouped by reason, each with what becomes of it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("listed.toml")


@dataclass(frozen=True)
class Reason:
    """Why some cases are not exact."""

    title: str
    text: str
    cases: dict[str, str]  #: the verdict on each


REASONS = tuple(Reason(**entry) for entry in tomllib.loads(FILE.read_text())["reason"])
LISTED = {name: verdict for reason in REASONS for name, verdict in reason.cases.items()}
