"""Histories: an input set for each place of a sequence."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.models.history import histories
from harness.models.inputs import InputSet
from harness.plan import ALL_MODES, PlannedModel, plan_loaded

A, B = InputSet("A", (b"a",)), InputSet("B", (b"b",))


def labels(history):
    return [each.label for each in history]


def test_each_place_has_an_input_set_of_its_own():
    first, _ = histories((A, B), (0, 1, 0), 4)
    assert labels(first) == ["A@0", "B@1", "A@2", "A@3"]
    assert [each.tensors[0] for each in first] == [b"a", b"b", b"a", b"a"]


def test_the_next_history_starts_with_the_next_input_set():
    _, second = histories((A, B), (0, 1, 0), 3)
    assert labels(second) == ["B@0", "A@1", "B@2"]


def test_models_that_are_loaded_together_go_through_other_histories(recurrent):
    sets = tuple(each for history in histories((A, B), (0, 1, 0), 3) for each in history)
    model = PlannedModel(recurrent, sets, histories=2)
    plan = plan_loaded((model, model, model), ALL_MODES[:1], (0, 1, 0), 3)
    fed = [[sets[job.input].label for job in plan.cells[0].jobs if job.slot == slot] for slot in range(3)]
    assert fed == [["A@0", "B@1", "A@2"], ["B@0", "A@1", "B@2"], ["A@0", "B@1", "A@2"]]


def test_a_history_is_not_run_beyond_its_end(recurrent):
    (history, _) = histories((A, B), (0, 1, 0), 3)
    with pytest.raises(UsageError, match="recurrent is fed histories of 3 inferences"):
        plan_loaded((PlannedModel(recurrent, history, histories=1),), ALL_MODES[:1], (0,), 4)
