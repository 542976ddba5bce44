"""Fixtures for the whole suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

_VARIABLE = "HARNESS_TEST_MODELS"


@pytest.fixture(scope="session")
def real_models() -> Path:
    """The folder of real networks that HARNESS_TEST_MODELS names; without it the test is skipped."""
    folder = os.environ.get(_VARIABLE)
    if not folder:
        pytest.skip(f"{_VARIABLE} does not name a folder of real networks")
    return Path(folder)
