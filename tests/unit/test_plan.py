"""Modes and plans."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.plan import (
    ALL_MODES,
    DRIVER_MODES,
    DRIVER_PERSISTENT,
    IO_PERSISTENT,
    PER_INFERENCE,
    PERSISTENT,
    TEMP_CACHING,
    Plan,
    parse_modes,
    plan_comparison,
    plan_loaded,
)


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("driver", DRIVER_MODES),
        ("io", (PER_INFERENCE, IO_PERSISTENT)),
        ("temp", (PER_INFERENCE, TEMP_CACHING)),
        ("all", ALL_MODES),
        ("per-inference", (PER_INFERENCE,)),
        ("persistent", (PERSISTENT,)),
        ("driver=per-inference", (PER_INFERENCE,)),
        ("temp=caching", (TEMP_CACHING,)),
        ("driver=persistent,io=per-inference,temp=malloc", (DRIVER_PERSISTENT,)),
        ("driver=persistent, io=persistent, temp=caching", (PERSISTENT,)),
        ("persistent; io", (PERSISTENT, PER_INFERENCE, IO_PERSISTENT)),
    ],
)
def test_a_mode_is_named_or_spelled_by_its_axes(text: str, modes: tuple[object, ...]) -> None:
    assert parse_modes(text) == modes


def test_several_texts_are_joined_and_a_mode_counts_once() -> None:
    assert parse_modes("driver", "io", "all") == (
        PER_INFERENCE,
        DRIVER_PERSISTENT,
        IO_PERSISTENT,
        *(mode for mode in ALL_MODES if mode not in (PER_INFERENCE, DRIVER_PERSISTENT, IO_PERSISTENT)),
    )


def test_all_modes_are_the_eight_points_of_the_matrix() -> None:
    assert len(set(ALL_MODES)) == 8
    assert (ALL_MODES[0], ALL_MODES[-1]) == (PER_INFERENCE, PERSISTENT)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fast", "allowed: per-inference"),
        ("", "unknown mode ''"),
        ("speed=high", "unknown axis 'speed'"),
        ("driver=cached", "allowed: per-inference, persistent"),
        ("temp=persistent", "allowed: malloc, caching"),
        ("io=persistent,io=per-inference", "says its axis io twice"),
    ],
)
def test_a_wrong_mode_says_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_modes(text)


@pytest.mark.parametrize("mode", ALL_MODES, ids=str)
def test_a_mode_reads_as_it_is_written(mode: object) -> None:
    assert parse_modes(str(mode)) == (mode,)


def test_modes_are_ordered_by_what_they_keep() -> None:
    assert all(mode > PER_INFERENCE for mode in ALL_MODES[1:])
    assert all(mode < PERSISTENT for mode in ALL_MODES[:-1])
    assert not DRIVER_PERSISTENT < IO_PERSISTENT
    assert not IO_PERSISTENT < DRIVER_PERSISTENT


def test_every_run_has_a_nonce_of_its_own(plan: Plan) -> None:
    assert plan.with_fresh_nonce().nonce != plan.with_fresh_nonce().nonce


def test_a_sequence_is_repeated_to_the_number_of_inferences(plan: Plan) -> None:
    (cell,) = plan_comparison(plan.models[0], [PER_INFERENCE], (0, 1, 0), 7).cells
    assert [job.input for job in cell.jobs] == [0, 1, 0, 0, 1, 0, 0]


def test_copies_of_a_model_are_slots_of_one(plan: Plan) -> None:
    loaded = plan_loaded(plan.models * 3, [PERSISTENT], (0,))
    assert loaded.models == plan.models
    assert loaded.cells[0].models == (0, 0, 0)
    assert [(job.slot, job.input) for job in loaded.cells[0].jobs] == [(0, 0), (1, 1), (2, 0)]
