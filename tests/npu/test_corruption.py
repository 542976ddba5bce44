"""Whatever is done to a stream or its weights, the NPU ends in a defined state, in bounded time."""

from __future__ import annotations

import numpy as np
import pytest

from harness.sim.npu.device import Cmd, Status

STATUS, CMD = 0x04, 0x08
MUTATIONS = 48
OUTCOMES = {Status.CMD_END_REACHED, Status.CMD_PARSE_ERROR, Status.BUS_FAULT, Status.BRANCH_FAULT}
NETWORKS = {"ds_cnn": 256, "resnet8": 1024, "mobilenet_v1_025": 128, "deep_autoencoder": 2048}


def flip_a_bit(words, generator):
    words[generator.integers(len(words))] ^= np.uint32(1 << generator.integers(32))


def replace_a_word(words, generator):
    words[generator.integers(len(words))] = generator.integers(1 << 32)


def repeat_a_word(words, generator):
    words[generator.integers(len(words))] = words[generator.integers(len(words))]


def set_a_field_to_its_largest(words, generator):
    words[generator.integers(len(words))] |= np.uint32(0xFFFF0000)


STREAM_MUTATIONS = [flip_a_bit, replace_a_word, repeat_a_word, set_a_field_to_its_largest]


def outcome(net, clock):
    """Run the network on a new NPU; return the bit of STATUS that says how it ended."""
    npu = net.device(clock)
    npu.write(CMD, Cmd.RUN)
    clock.now = npu.busy_until
    status = Status(npu.read(STATUS) & 0xFFFF)
    assert Status.RUNNING not in status
    (result,) = [bit for bit in OUTCOMES if bit in status]
    assert (npu.last_fault is None) == (result is Status.CMD_END_REACHED)
    return result


@pytest.mark.parametrize("mutate", STREAM_MUTATIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("name", NETWORKS)
def test_corrupted_stream_ends_in_a_defined_state(network, clock, name, mutate):
    net = network(name, NETWORKS[name])
    words = net.memory.view(net.stream_address, len(net.stream)).view("<u4")
    original = words.copy()
    generator = np.random.default_rng(1)
    seen = set()
    for _ in range(MUTATIONS // len(STREAM_MUTATIONS)):
        words[:] = original
        mutate(words, generator)
        seen.add(outcome(net, clock))
    assert Status.CMD_PARSE_ERROR in seen


@pytest.mark.parametrize("name", NETWORKS)
def test_corrupted_weights_end_in_a_defined_state(network, clock, name):
    net = network(name, NETWORKS[name])
    weights = net.memory.view(net.bases[0], len(net.compiled.weights))
    original = weights.copy()
    generator = np.random.default_rng(2)
    for _ in range(MUTATIONS // len(STREAM_MUTATIONS)):
        weights[:] = original
        weights[generator.integers(len(weights))] ^= 1 << generator.integers(8)
        outcome(net, clock)


def test_whole_stream_ends_without_a_fault(network, clock):
    """What the other tests break is not broken before."""
    assert outcome(network("ds_cnn", 256), clock) is Status.CMD_END_REACHED
