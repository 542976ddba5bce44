"""The cases that are not exact, as listed.toml has them: grouped by reason, each with what becomes of it."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ..npu.proof.listed import Reason

FILE = Path(__file__).with_name("listed.toml")

REASONS = tuple(Reason(**entry) for entry in tomllib.loads(FILE.read_text())["reason"])
LISTED = {name: verdict for reason in REASONS for name, verdict in reason.cases.items()}
