"""How long the NPU model takes for each network, against tflite-micro in the same process. No limit."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.models.catalog import REFERENCE_NETWORKS, load_model
from harness.models.compiled import CompiledModel
from harness.models.inputs import standard_inputs
from harness.models.vela import CompileOptions, compile_model
from harness.sim.npu import NpuConfig, execute, parse_payload

ROUNDS = 7
REGION_SHIFT = 32  # each region has a 4 GiB window of its own


class Regions:
    """The five regions of a direct-drive network, each an array."""

    def __init__(self, compiled: CompiledModel) -> None:
        outputs = sum(tensor.size for tensor in compiled.outputs)
        sizes = (0, compiled.scratch_size, compiled.scratch_fast_size, 0, outputs)
        self.arrays = [np.zeros(size + 64, np.uint8) for size in sizes]
        self.arrays[0] = np.frombuffer(compiled.weights + bytes(64), np.uint8).copy()
        self.arrays[3] = np.frombuffer(standard_inputs(compiled)[0].tensors[0] + bytes(64), np.uint8).copy()
        self.bases = [index << REGION_SHIFT for index in range(5)]

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        offset = address & (1 << REGION_SHIFT) - 1
        return self.arrays[address >> REGION_SHIFT][offset : offset + size]


def median_ms(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return 1000 * statistics.median(times)


@pytest.mark.benchmark
@pytest.mark.parametrize("name", REFERENCE_NETWORKS)
def test_time_against_tflite_micro(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runtime = pytest.importorskip("tflite_micro", reason="tflite-micro is not installed").runtime
    compiled = compile_model(load_model(name), CompileOptions(256))
    assert compiled.tflite is not None
    regions = Regions(compiled)
    config = NpuConfig(compiled.macs)
    stream = parse_payload(compiled.command_stream).stream

    started = time.perf_counter()
    execution = execute(stream, config, regions, regions.bases)
    cold = 1000 * (time.perf_counter() - started)
    assert execution.fault is None

    interpreter = runtime.Interpreter.from_bytes(compiled.tflite, arena_size=1 << 20)
    (tensor,) = compiled.inputs
    values = np.frombuffer(standard_inputs(compiled)[0].tensors[0], tensor.dtype).reshape(tensor.shape)

    def invoke() -> None:
        interpreter.set_input(values, 0)  # its arena does not keep the input over a run
        interpreter.invoke()

    theirs = median_ms(invoke)
    ours = median_ms(lambda: execute(stream, config, regions, regions.bases))
    assert regions.arrays[4][: compiled.outputs[0].size].tobytes() == interpreter.get_output(0).tobytes()
    with capsys.disabled():
        print(  # noqa: T201 - a benchmark prints its figures
            f"\n{name}: NPU model {ours:.2f} ms, tflite-micro {theirs:.2f} ms, ratio {ours / theirs:.1f}; "
            f"cold {cold:.0f} ms, {cold / ours:.1f} x warm"
        )
