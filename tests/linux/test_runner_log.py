"""A runner's lines give the values they say, or an error: never another value."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ConsoleError
from harness.models.compiled import Bytes, Tensor
from harness.results.runner_log import RunnerInference, printed_outputs, read_runner_log

CYCLES = (
    "I 00:00:00.0{0} executorch:EthosUBackend_Cortex_A.cpp:321] Ethos-U Linux delegate cycle counter: {1}\n"
)
ITERATION = "I 00:00:00.0{0} executorch:executor_runner.cpp:500] Iteration {1} of {2}: {3} ms\n"
LOG = (
    "I 00:00:00.000100 executorch:executor_runner.cpp:253] Model file M0.BIN is loaded.\n"
    + CYCLES.format(1234, 182733)
    + ITERATION.format(2345, 1, 2, "2.612000")
    + CYCLES.format(3456, 182733)
    + ITERATION.format(4567, 2, 2, "0.934560")
    + "I 00:00:00.005678 executorch:executor_runner.cpp:520] Model executed successfully 2 time(s)\n"
)
READ = (RunnerInference(0, 182733, 2.612), RunnerInference(1, 182733, 0.93456))


def tensor(dtype: str, *shape: int) -> Tensor:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return Tensor("scores", shape, dtype, 4, Bytes(0), Bytes(size))


def test_every_inference_is_read():
    assert read_runner_log(LOG, 2) == READ


def test_what_stands_before_a_line_is_passed_over():
    assert read_runner_log(LOG.replace("I 00", "[   12.345678] ethosu: message I 00"), 2) == READ


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("counter: 182733", "counter: 18[   12.3] ethosu: message", "is damaged"),
        ("2.612000 ms", "2.61[   12.3] ethosu: message", "is damaged"),
        ("2.612000 ms", "-1.000000 ms", "is damaged"),
        ("2.612000 ms", "2.612000 ms, and more", "is damaged"),
        ("Iteration 1 of 2", "Iteration 2 of 2", "where iteration 1 of 2 was due"),
        ("of 2: 2.6", "of 3: 2.6", "where iteration 1 of 2 was due"),
        ("counter: 182733", "counter: 0", "took 0 NPU cycles"),
        ("Ethos-U Linux delegate cycle counter: 182733", "", "logged 0 cycle counters for iteration 1"),
        ("Iteration 2 of 2: 0.934560 ms", "", "logged 1 of 2 inferences"),
    ],
)
def test_a_line_that_is_damaged_missing_or_out_of_order_is_named(old, new, said):
    assert old in LOG
    with pytest.raises(ConsoleError, match=said):
        read_runner_log(LOG.replace(old, new), 2)


@pytest.mark.parametrize("count", [1, 3])
def test_another_number_of_inferences_is_named(count):
    with pytest.raises(ConsoleError):
        read_runner_log(LOG, count)


def test_a_log_without_such_lines_names_what_the_build_lacks():
    with pytest.raises(ConsoleError) as caught:
        read_runner_log("OutputX 0: tensor(sizes=[1], [2.])\n", 1)
    assert "EXECUTORCH_ENABLE_LOGGING" in caught.value.hint


@settings(deadline=None)
@given(st.data())
def test_a_log_that_lost_or_gained_a_piece_is_read_as_it_was_or_refused(data):
    # Digits that are lost or changed within a number are another number, which no reader can tell: not here.
    place = data.draw(st.integers(0, len(LOG)))
    if data.draw(st.booleans()):
        broken = LOG[:place] + "[   12.345678] ethosu 1a050000.ethosu: message\n" + LOG[place:]
    else:
        broken = LOG[:place]
    with contextlib.suppress(ConsoleError):
        assert read_runner_log(broken, 2) == READ


def test_outputs_on_one_line_are_read_exactly():
    text = "OutputX 0: tensor(sizes=[1, 3], [-128, 0, 127])\n"
    assert printed_outputs(text, [tensor("int8", 1, 3)]) == (b"\x80\x00\x7f",)


def test_outputs_on_several_lines_are_read_exactly():
    rows = "\n  ".join(", ".join(map(str, range(start, start + 10))) + ", " for start in (0, 10))
    text = f"OutputX 0: tensor(sizes=[1, 20], [\n  {rows}\n])\n"
    (data,) = printed_outputs(text, [tensor("int16", 1, 20)])
    assert np.frombuffer(data, "<i2").tolist() == list(range(20))


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ("1, ..., 3", "without its middle"),
        ("1, 2", "has 2 elements, and the model's 3"),
        ("1, 2, 300", "no int8"),
        ("1., 2., 3.", "not printed in integers"),
        ("True, False, True", "not printed in integers"),
    ],
)
def test_outputs_that_are_not_printed_exactly_are_refused(items, said):
    with pytest.raises(ConsoleError, match=said):
        printed_outputs(f"OutputX 0: tensor(sizes=[1, 3], [{items}])\n", [tensor("int8", 1, 3)])


@pytest.mark.parametrize(
    "text", ["", "OutputX 1: tensor(sizes=[1], [1])\n", "OutputX 0: tensor(sizes=[1], [1"]
)
def test_an_output_that_is_missing_is_named(text):
    with pytest.raises(ConsoleError, match="the model has 1"):
        printed_outputs(text, [tensor("int8", 1)])
