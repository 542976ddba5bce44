"""Fixtures for the whole suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

_VARIABLE = "HARNESS_TEST_MODELS"
_BOARD_VARIABLE = "HARNESS_BOARD"


def pytest_configure(config: pytest.Config) -> None:
    """Have all tests run on the board of `--harness-board`, those too that start `harness` elsewhere."""
    board = config.getoption("--harness-board", None) or os.environ.get(_BOARD_VARIABLE)
    if board:
        os.environ[_BOARD_VARIABLE] = str(Path(board).absolute()) if board.endswith(".toml") else board


@pytest.fixture(scope="session")
def board_name() -> str:
    """The simulated board that the suite runs on, as a name or a path."""
    return os.environ.get(_BOARD_VARIABLE, "sim")


@pytest.fixture(scope="session")
def real_models() -> Path:
    """The folder of real networks that HARNESS_TEST_MODELS names; without it the test is skipped."""
    folder = os.environ.get(_VARIABLE)
    if not folder:
        pytest.skip(f"{_VARIABLE} does not name a folder of real networks")
    return Path(folder)
