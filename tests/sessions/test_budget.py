"""Models run as many at once as there is memory for, and a killed worker leaves no slot taken."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from harness.boards.budget import VARIABLE, model_slot, models_at_once
from harness.errors import UsageError

HOLD = """
import sys, time
from harness.boards.budget import model_slot
from harness.boards.config import load_board
with model_slot(load_board("sim")):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def one_model(monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "1")


def test_the_budget_is_memory_over_what_a_model_takes(board, monkeypatch):
    monkeypatch.delenv(VARIABLE)
    small = board.model_copy(update={"program": board.program.model_copy(update={"memory_mib": 1})})
    huge = board.model_copy(update={"program": board.program.model_copy(update={"memory_mib": 1 << 30})})
    assert models_at_once(small) > 1000
    assert models_at_once(huge) == 1


def test_a_budget_that_is_no_number_is_refused(board, monkeypatch):
    monkeypatch.setenv(VARIABLE, "many")
    with pytest.raises(UsageError, match=f"{VARIABLE} is 'many'; it takes a number from 1 on"):
        models_at_once(board)


def test_a_second_model_waits_for_the_first(board):
    order = []

    def second() -> None:
        with model_slot(board):
            order.append("second")

    with model_slot(board):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_the_slot_of_a_killed_worker_is_free(board):
    holder = subprocess.Popen([sys.executable, "-P", "-c", HOLD], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with model_slot(board):
        pass
