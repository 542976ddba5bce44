"""What the model itself prints."""

from __future__ import annotations

import sys


def say(text: str, end: str = "\n") -> None:
    """Print at once: whoever reads a model's output waits for it."""
    sys.stdout.write(text + end)
    sys.stdout.flush()
