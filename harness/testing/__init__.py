"""Stand-ins that users' own tests may use. They start no Arm software and hold none."""

from harness.testing.mock_fvp import MockFvp
from harness.testing.symptoms import Symptom

__all__ = ["MockFvp", "Symptom"]
