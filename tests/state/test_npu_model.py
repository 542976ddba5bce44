"""The NPU model on networks with variables: bit for bit what tflite-micro computes, over many inferences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from harness.models.compiled import CompiledModel
from harness.models.inputs import seeded_inputs
from harness.models.oracle import tflite_micro_outputs
from harness.npu_tools.inference import infer
from harness.sim.npu import NpuConfig, execute, parse_payload
from harness.sim.npu.cycles import VelaProfile

INFERENCES = 6
WEIGHTS_ROOM = 1 << 16
LEFTOVER = 0xA5


class Memory:
    """Weights, and behind them scratch memory."""

    def __init__(self, compiled: CompiledModel) -> None:
        self.content = np.full(WEIGHTS_ROOM + compiled.scratch_size, LEFTOVER, np.uint8)
        self.put(-WEIGHTS_ROOM, compiled.weights)

    def view(self, address: int, size: int) -> np.ndarray:
        return self.content[address : address + size]

    def put(self, offset: int, data: bytes) -> None:
        self.view(WEIGHTS_ROOM + offset, len(data))[:] = np.frombuffer(data, np.uint8)

    def get(self, offset: int, size: int) -> bytes:
        return self.view(WEIGHTS_ROOM + offset, size).tobytes()


def run_on_npu(
    compiled: CompiledModel, samples: Sequence[tuple[bytes, ...]], initial: Sequence[bytes]
) -> tuple[tuple[bytes, ...], ...]:
    """The outputs of one inference after the other, with the variables set before the first."""
    memory = Memory(compiled)
    for variable, data in zip(compiled.variables, initial, strict=True):
        memory.put(variable.offset, data)
    stream = parse_payload(compiled.command_stream).stream
    outputs = []
    for sample in samples:
        for tensor, data in zip(compiled.inputs, sample, strict=True):
            memory.put(tensor.offset, data)
        assert execute(stream, NpuConfig(compiled.macs), memory, [0, WEIGHTS_ROOM, 0, 0, 0]).fault is None
        outputs.append(tuple(memory.get(tensor.offset, tensor.size) for tensor in compiled.outputs))
    return tuple(outputs)


def initial_values(compiled: CompiledModel) -> list[bytes]:
    return [variable.initial for variable in compiled.variables]


@pytest.fixture(scope="module")
def samples(network):
    sizes = [tensor.size for tensor in network.inputs]
    return [seeded_inputs(sizes, str(number)).tensors for number in range(INFERENCES)]


@pytest.fixture(scope="module")
def expected(network, samples):
    return tflite_micro_outputs(network.name, network.tflite, samples, keep_state=True)


def test_inferences_that_go_on_are_exact(network, samples, expected):
    assert run_on_npu(network, samples, initial_values(network)) == expected


def test_inferences_that_start_anew_are_exact(network, samples):
    alone = [run_on_npu(network, [sample], initial_values(network))[0] for sample in samples]
    assert tuple(alone) == tflite_micro_outputs(network.name, network.tflite, samples)


def test_what_an_inference_leaves_shows_in_the_next(network, samples):
    repeated = [samples[0]] * 3
    going_on = tflite_micro_outputs(network.name, network.tflite, repeated, keep_state=True)
    assert len(set(going_on)) > 1
    assert len(set(tflite_micro_outputs(network.name, network.tflite, repeated))) == 1


@pytest.mark.parametrize("name", ["recurrent", "adding"])
def test_variables_that_start_from_zeros_are_seen(name, request):
    compiled = request.getfixturevalue(name)
    sample = seeded_inputs([tensor.size for tensor in compiled.inputs], "0").tensors
    zeros = [bytes(variable.size) for variable in compiled.variables]
    (expected,) = tflite_micro_outputs(compiled.name, compiled.tflite, [sample])
    assert run_on_npu(compiled, [sample], zeros) != (expected,)
    assert run_on_npu(compiled, [sample], initial_values(compiled)) == (expected,)


def test_one_inference_alone_finds_the_initial_values(network, samples):
    memory = VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")
    (expected,) = tflite_micro_outputs(network.name, network.tflite, samples[:1])
    assert infer(network, samples[0], memory).outputs == expected
