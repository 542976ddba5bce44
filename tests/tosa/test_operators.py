"""TOSA graphs of one operator give on the NPU model what Arm's TOSA reference model computes for them."""

from __future__ import annotations

import json
import os
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.models.catalog import ModelKind, ModelSource
from harness.models.compiled import MAC_COUNTS
from harness.models.vela import DEFAULT_MACS

from ..npu.proof.verdict import EXACT
from .corpus import FILE, MADE_WITH, Case, read_corpus
from .listed import LISTED
from .verdict import verdict

CASES = read_corpus()
OTHER_MACS = [count for count in MAC_COUNTS if count != DEFAULT_MACS]
VARIABLE = "HARNESS_TOSA_PYTHON"
MAKE = Path(__file__).with_name("make.py")
MAKE_SECONDS = 120
MOST_BYTES = 400_000
FEWEST_SAMPLES = 6


def other_macs(name: str) -> int:
    """A MAC count beside the default: spread over all, and the same for ever for the same name."""
    return OTHER_MACS[zlib.crc32(name.encode()) % len(OTHER_MACS)]


@pytest.fixture
def placed(network):
    """A function that compiles a case and puts it into memory."""
    return lambda case, macs=DEFAULT_MACS: network(ModelSource(case.name, case.graph, ModelKind.TOSA), macs)


@pytest.fixture
def outcome(placed):
    """A function that compiles a case, runs it and says what becomes of it."""
    return lambda case, macs=DEFAULT_MACS: verdict(case, lambda: placed(case, macs))


@pytest.mark.parametrize("name", CASES)
def test_case_is_exact_or_listed(name, outcome):
    assert outcome(CASES[name]) == LISTED.get(name, EXACT)


@pytest.mark.parametrize("name", CASES)
def test_so_it_is_with_another_mac_count(name, outcome):
    assert outcome(CASES[name], other_macs(name)) == LISTED.get(name, EXACT)


@pytest.mark.parametrize("name", ["conv2d.int8.weights as input", "matmul.int8.scale per channel"])
def test_where_all_get_the_scale_of_the_first_channel_that_one_is_exact(name, placed):
    case = CASES[name]
    network = placed(case)
    differing = set()
    for sample in range(case.samples):
        (output,) = network.run([values[sample].tobytes() for values in case.inputs])
        expected = case.outputs[0][sample]
        differing |= set(np.nonzero(np.frombuffer(output, np.int8).reshape(expected.shape) != expected)[-1])
    assert differing == set(range(1, case.outputs[0].shape[-1]))


def test_every_listed_case_exists():
    assert set(LISTED) <= set(CASES)


def test_all_mac_counts_occur():
    assert {other_macs(name) for name in CASES} == set(OTHER_MACS)


def test_a_wrong_byte_of_an_output_is_noticed(outcome):
    case = CASES["conv2d.int8.zero point -128"]
    wrong = case.outputs[0].copy()
    wrong[-1].reshape(-1)[-1] ^= 1
    assert outcome(replace(case, outputs=(wrong,))) == f"differs by up to 1 in 1 of {wrong.size} elements"


def test_another_multiplier_in_the_graph_is_noticed(outcome):
    case = CASES["rescale.int8.to int8"]
    multiplier = round(0.77 * (1 << 31))
    old, new = (number.to_bytes(4, "little") for number in (multiplier, multiplier + (1 << 24)))
    assert case.graph.count(old) == 1
    assert outcome(replace(case, graph=case.graph.replace(old, new))).startswith("differs by up to 1 in ")


@pytest.mark.parametrize("name", CASES)
def test_samples_are_many_and_reach_the_ends(name):
    case = CASES[name]
    assert case.samples >= FEWEST_SAMPLES
    for values in case.inputs:
        assert len(values) == case.samples
        assert np.all(values[0] == values.min())
        assert np.all(values[1] == values.max())
    assert all(len({sample.tobytes() for sample in values}) > 1 for values in case.outputs)


def test_the_corpus_is_small_and_says_what_made_it():
    assert FILE.stat().st_size < MOST_BYTES
    assert set(json.loads(MADE_WITH.read_text())) == {"tosa-tools", "numpy"}


@pytest.mark.proof
def test_it_is_what_the_reference_model_computes_today(tmp_path):
    if not (python := os.environ.get(VARIABLE)):
        pytest.skip(f"{VARIABLE} names no Python that has tosa-tools")
    done = subprocess.run([python, MAKE, tmp_path], capture_output=True, text=True, timeout=MAKE_SECONDS)
    assert done.returncode == 0, done.stderr[-2000:]
    made = read_corpus(tmp_path / FILE.name)
    assert list(made) == list(CASES)
    assert [name for name, case in made.items() if not same(case, CASES[name])] == []


def same(one: Case, other: Case) -> bool:
    pairs = zip((*one.inputs, *one.outputs), (*other.inputs, *other.outputs), strict=True)
    return one.graph == other.graph and all(
        left.dtype == right.dtype and np.array_equal(left, right) for left, right in pairs
    )


def test_a_changed_case_is_not_the_same():
    case = CASES["clamp.int8.plain"]
    changed = case.outputs[0].copy()
    changed.reshape(-1)[5] += 1
    assert same(case, replace(case))
    assert not same(case, replace(case, outputs=(changed,)))
    assert not same(case, replace(case, graph=case.graph[:-1]))
