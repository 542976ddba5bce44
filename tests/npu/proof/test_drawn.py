"""Operators with freely drawn parameters give tflite-micro's outputs, on every configuration of the NPU."""

from __future__ import annotations

import pytest

from harness.models.compiled import MAC_COUNTS

from .drawn import drawn_operators
from .network import write_model
from .verdict import EXACT, verdict

pytestmark = pytest.mark.proof

SEED, COUNT = 2026, 150
DRAWN = [
    pytest.param(operator, MAC_COUNTS[number % len(MAC_COUNTS)], id=f"{number}-{kind}")
    for number, (kind, _, operator) in enumerate(drawn_operators(SEED, COUNT))
]


@pytest.mark.usefixtures("tflite_micro")
@pytest.mark.parametrize(("operator", "macs"), DRAWN)
def test_a_drawn_operator_is_exact_or_left_on_the_cpu(placed, operator, macs):
    found = verdict(operator, lambda: placed("drawn", write_model(operator), macs))
    assert found == EXACT or found.startswith("not compiled: Vela leaves TRANSPOSE_CONV on the CPU"), operator


def test_the_same_seed_draws_the_same():
    first, again = (list(drawn_operators(SEED, 20)) for _ in range(2))
    assert [each[:2] for each in first] == [each[:2] for each in again]
    assert first[0][1] != next(drawn_operators(SEED + 1, 1))[1]


def test_all_kinds_are_drawn():
    assert {kind for kind, _, _ in drawn_operators(SEED, COUNT)} == {
        *("conv_2d", "depthwise_conv_2d", "transpose_conv", "fully_connected", "batch_matmul", "pool"),
    }
