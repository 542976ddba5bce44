"""Stand-ins that users' own tests may use: MockFvp for Arm's FVP. They hold no Arm software."""

from __future__ import annotations

from harness.testing.behaviour import Behaviour, Script
from harness.testing.mock_fvp import MockFvp
from harness.testing.symptoms import Symptom

__all__ = ["Behaviour", "MockFvp", "Script", "Symptom"]
