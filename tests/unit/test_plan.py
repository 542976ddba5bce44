"""Modes and plans."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.plan import DRIVER_MODES, PER_INFERENCE, PERSISTENT, Plan, parse_modes


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("driver", DRIVER_MODES),
        ("driver=per-inference", (PER_INFERENCE,)),
        ("driver=persistent,io=per-inference,temp=malloc", (PERSISTENT,)),
        ("persistent", (PERSISTENT,)),
    ],
)
def test_a_mode_is_named_or_spelled_by_its_axes(text: str, modes: tuple[object, ...]) -> None:
    assert parse_modes(text) == modes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fast", "allowed: per-inference"),
        ("speed=high", "unknown axis 'speed'"),
        ("driver=cached", "allowed: per-inference, persistent"),
        ("io=per-inference", "does not say its driver lifetime"),
    ],
)
def test_a_wrong_mode_says_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_modes(text)


def test_a_mode_reads_as_it_is_written() -> None:
    assert parse_modes(str(PERSISTENT)) == (PERSISTENT,)


def test_every_run_has_a_nonce_of_its_own(plan: Plan) -> None:
    assert plan.with_fresh_nonce().nonce != plan.with_fresh_nonce().nonce
