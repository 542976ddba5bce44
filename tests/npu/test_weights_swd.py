"""Standard weight streams: what Vela's own encoder writes is read back, and nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from harness.sim.npu.weights import WeightError
from harness.sim.npu.weights.swd import decode_swd

# The codec is C code that ends its process on bad input, so it gets one of its own.
ENCODER = """
import json, sys
from ethosu import mlw_codec
for line in sys.stdin:
    print(bytes(mlw_codec.encode(json.loads(line))).hex(), flush=True)
"""


@pytest.fixture(scope="module")
def encode():
    with subprocess.Popen(
        [sys.executable, "-c", ENCODER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as encoder:

        def ask(weights: NDArray[np.int64] | list[int]) -> bytes:
            print(json.dumps(np.asarray(weights).tolist()), file=encoder.stdin, flush=True)
            return bytes.fromhex(encoder.stdout.readline())

        yield ask
        encoder.stdin.close()


def bell(rng, size, width=20.0):
    return np.clip(np.rint(rng.normal(0, width, size)), -255, 255).astype(int)


DISTRIBUTIONS = {
    "uniform": lambda rng: rng.integers(-255, 256, 3000),
    "extremes": lambda rng: rng.choice([-255, 255], 3000),
    "narrow bell": lambda rng: bell(rng, 3000, 0.6),
    "bell": lambda rng: bell(rng, 3000),
    "wide bell": lambda rng: bell(rng, 3000, 90.0),
    "two values": lambda rng: rng.choice([-3, 77], 3000),
    "32 values": lambda rng: rng.choice(rng.permutation(np.arange(-255, 256))[:32], 3000),
    "33 values": lambda rng: rng.choice(rng.permutation(np.arange(-255, 256))[:33], 3000),
    "no small values": lambda rng: rng.integers(100, 140, 3000),
    "half zeros": lambda rng: bell(rng, 3000) * (rng.random(3000) < 0.5),
    "mostly zeros": lambda rng: bell(rng, 3000) * (rng.random(3000) < 0.03),
    "long zero runs": lambda rng: np.repeat(bell(rng, 30), 100) * np.repeat(rng.random(30) < 0.3, 100),
    "only zeros": lambda rng: np.zeros(3000, int),
    "all equal": lambda rng: np.full(3000, -17),
    "one weight": lambda rng: np.array([5]),
    "changing": lambda rng: np.concatenate([bell(rng, 900, 1), np.zeros(700, int), bell(rng, 900, 80)]),
    "more than one slice": lambda rng: bell(rng, 80_000, 4.0),
}


@pytest.mark.parametrize("draw", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS.keys())
def test_encoded_weights_are_read_back(encode, draw):
    weights = draw(np.random.default_rng(85))
    np.testing.assert_array_equal(decode_swd(encode(weights), len(weights)), weights)


weight = st.one_of(st.integers(-255, 255), st.integers(-2, 2))
run = st.builds(lambda value, length: [value] * length, weight, st.integers(1, 40))


@settings(max_examples=150, deadline=None)
@given(runs=st.lists(run, min_size=1, max_size=60))
def test_any_weights_are_read_back(encode, runs):
    weights = list(chain.from_iterable(runs))
    np.testing.assert_array_equal(decode_swd(encode(weights), len(weights)), weights)


@settings(max_examples=300, deadline=None)
@given(stream=st.binary(max_size=200), count=st.integers(0, 400))
def test_any_bytes_are_weights_or_an_error(stream, count):
    with suppress(WeightError):
        assert len(decode_swd(stream, count)) == count


@pytest.mark.parametrize("length", range(0, 480, 16))
def test_shortened_stream_is_refused(encode, length):
    weights = bell(np.random.default_rng(1), 600)
    stream = encode(weights)
    assert len(stream) > 480
    with pytest.raises(WeightError):
        decode_swd(stream[:length], 600)


@pytest.mark.parametrize("count", [599, 601])
def test_number_of_weights_is_exact(encode, count):
    stream = encode(bell(np.random.default_rng(1), 600))
    with pytest.raises(WeightError, match="weight stream holds"):
        decode_swd(stream, count)


def test_zero_run_beyond_the_operation_is_refused(encode):
    with pytest.raises(WeightError, match="more than the operation asks for"):
        decode_swd(encode(np.zeros(1_000_000, int)), 1000)


def bits(*fields: tuple[int, int]) -> bytes:
    """Pack (value, width) pairs, lowest bit first."""
    text = "".join(f"{value:0{width}b}"[::-1] for value, width in fields)
    return np.packbits([int(bit) for bit in text], bitorder="little").tobytes()


PLAIN_SLICE = [(6, 3), (0, 15), (7, 3), (0, 1), (1, 1), (0, 5), (0, 5), (0, 3)]
"""Header of one weight without zero runs, unary part or palette; its 2 bits follow."""
END = (7, 3)


def test_slice_written_by_hand_is_read():
    assert decode_swd(bits(*PLAIN_SLICE, (3, 2), END), 1).tolist() == [-1]


MALFORMED = {
    "run divider 4": (bits((4, 3), *PLAIN_SLICE[1:], (3, 2), END), "run divider 4"),
    "weight divider 6": (bits(*PLAIN_SLICE[:2], (6, 3), *PLAIN_SLICE[3:], (0, 2), END), "weight divider 6"),
    "no palette": (bits(*PLAIN_SLICE[:4], (0, 1), (3, 2), END), "without a palette"),
    "runs switched on": (
        bits(*PLAIN_SLICE, (3, 2), (0, 3), (0, 15), (7, 3), (0, 1), (0, 1), (0, 20), END),
        "without a new palette",
    ),
    "cut inside a slice": (bits(*PLAIN_SLICE, (3, 2)), "ends inside a slice"),
    "no end marker": (bits(PLAIN_SLICE[0], (1, 15), *PLAIN_SLICE[2:], (3, 2), (3, 2)), "no end marker"),
    "ten-bit weight": (
        bits(*PLAIN_SLICE[:5], (31, 5), (0, 5), (7, 3), (511, 9), END),
        "more than 9 bits",
    ),
}


@pytest.mark.parametrize(("stream", "reason"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_slice_is_refused(stream, reason):
    with pytest.raises(WeightError, match=reason):
        decode_swd(stream, 2)
