"""Networks of one operator give tflite-micro's outputs on the NPU, with the exceptions that are listed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from .cases import CASES, macs
from .listed import LISTED
from .network import Operator, Tensor, write_model
from .verdict import EXACT, verdict

pytestmark = pytest.mark.proof


@pytest.mark.usefixtures("tflite_micro")
@pytest.mark.parametrize("name", CASES)
def test_case_is_exact_or_listed(name, placed):
    operator = CASES[name]
    found = verdict(operator, lambda: placed(name, write_model(operator), macs(name)))
    assert found == LISTED.get(name, EXACT)


def test_every_listed_case_exists():
    assert set(LISTED) <= set(CASES)


class Placed:
    """A network that copies its input, its first element changed by some number."""

    def __init__(self, changed_by):
        self._changed_by = changed_by

    def fill(self, inputs):
        self._output = np.frombuffer(inputs[0], np.int8).copy()
        self._output[0] += self._changed_by

    def execute(self):
        return SimpleNamespace(fault=None)

    def outputs(self):
        return (self._output.tobytes(),)


POSITIVE = Tensor((4,), within=(0, 100))
COPY = Operator("ABS", (POSITIVE,), (POSITIVE,))


@pytest.mark.usefixtures("tflite_micro")
def test_where_the_first_channels_are_read_again_equal_channels_are_exact(placed):
    name = "depthwise_conv_2d c:100x1 s:1x4"
    operator = CASES[name]
    network = placed(name, write_model(operator), macs(name))
    (tensor,) = operator.arguments
    plane = np.random.default_rng(1).integers(-128, 127, (*tensor.shape[:3], 1), np.int8, endpoint=True)
    sample = (np.broadcast_to(plane, tensor.shape).tobytes(),)
    assert network.run(sample) == network.reference([sample])[0]


@pytest.mark.usefixtures("tflite_micro")
def test_correct_output_is_exact():
    assert verdict(COPY, lambda: Placed(0)) == EXACT


@pytest.mark.usefixtures("tflite_micro")
def test_one_wrong_bit_is_a_difference():
    assert verdict(COPY, lambda: Placed(1)).startswith("differs by up to")
