"""How long the NPU model takes, against tflite-micro in the same process. Printed, never a limit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.models.catalog import REFERENCE_NETWORKS, ModelKind, ModelSource, load_model
from harness.models.compiled import CompiledModel
from harness.models.inputs import standard_inputs
from harness.models.network_builder import NetworkBuilder
from harness.models.tflite_writer import write_tflite
from harness.models.vela import CompileOptions, compile_model
from harness.sim.npu import NpuConfig, parse_payload
from harness.sim.npu.convolution import Convolution
from harness.sim.npu.cycles import Memory as Port
from harness.sim.npu.interpreter import Execution, run
from harness.sim.npu.machine import REGIONS, Machine
from harness.sim.npu.program import Program, prepare

ROUNDS = 7  #: at least, and as many as fit into half a second; the best one counts
MACS = 256
REGION_SHIFT = 32  # each region has a 4 GiB window of its own
SIDES = (16, 32, 48, 64, 96, 128)  #: of the inputs for the fit


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


class Bench:
    """One network on an NPU that stays powered on, as a driver finds it."""

    def __init__(self, compiled: CompiledModel) -> None:
        self.regions = Regions(compiled)
        self._config = NpuConfig(compiled.macs)
        self._stream = parse_payload(compiled.command_stream).stream
        self._machine = Machine(self.regions)

    def infer(self) -> Execution:
        self._machine.start(self.regions.bases)
        return run(self.program, self._config, self._machine, (Port.SRAM,) * REGIONS)

    @property
    def program(self) -> Program:
        return prepare(self._stream, self._config)

    @property
    def multiplications(self) -> int:
        return sum(_products(step.operation) for step in self.program.steps)


def _products(operation: object) -> int:
    if not isinstance(operation, Convolution):
        return 0
    layout = operation.layout
    depth = 1 if operation._is_depthwise else layout.ifm_depth
    return math.prod((*operation.output.shape, layout.kernel_height, layout.kernel_width, depth))


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)


def best_ms(work: Callable[[], object]) -> float:
    rounds = max(ROUNDS, int(500 / milliseconds(work)))
    return min(milliseconds(work) for _ in range(rounds))


@pytest.fixture
def source(name: str, request: pytest.FixtureRequest) -> ModelSource:
    if name in REFERENCE_NETWORKS:
        return load_model(name)
    return ModelSource(name, request.getfixturevalue(name), ModelKind.TFLITE)


@pytest.mark.benchmark
@pytest.mark.parametrize("name", [*REFERENCE_NETWORKS, "mobilenet_v2"])
def test_time_against_tflite_micro(
    name: str, source: ModelSource, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime = pytest.importorskip("tflite_micro", reason="tflite-micro is not installed").runtime
    compiled = compile_model(source, CompileOptions(MACS))
    bench = Bench(compiled)
    cold = milliseconds(bench.infer)
    assert bench.infer().fault is None

    interpreter = runtime.Interpreter.from_bytes(compiled.tflite, arena_size=8 << 20)
    (tensor,) = compiled.inputs
    values = np.frombuffer(standard_inputs(compiled)[0].tensors[0], tensor.dtype).reshape(tensor.shape)

    def invoke() -> None:
        interpreter.set_input(values, 0)  # its arena does not keep the input over a run
        interpreter.invoke()

    theirs, ours = best_ms(invoke), best_ms(bench.infer)
    outputs = bench.regions.arrays[4][: compiled.outputs[0].size]
    assert outputs.tobytes() == interpreter.get_output(0).tobytes()
    with capsys.disabled():
        print(  # noqa: T201 - a benchmark prints its figures
            f"\n{name}: {bench.multiplications / 1e6:.1f} M MACs, NPU model {ours:.2f} ms, tflite-micro "
            f"{theirs:.2f} ms, ratio {ours / theirs:.2f}; cold {cold:.0f} ms, {cold / ours:.1f} x warm"
        )


@pytest.mark.benchmark
def test_time_grows_with_the_multiplications(capsys: pytest.CaptureFixture[str]) -> None:
    points = []
    for side in SIDES:
        net = NetworkBuilder(f"side{side}", (side, side, 16), Fraction(1, 256), 0)
        graph = net.finish(net.conv(net.conv(net.input, 32, (3, 3)), 32, (3, 3)))
        source = ModelSource(f"side{side}", write_tflite(graph), ModelKind.TFLITE)
        bench = Bench(compile_model(source, CompileOptions(MACS)))
        points.append((bench.multiplications / 1e6, best_ms(bench.infer)))
    macs, times = np.array(points).T
    slope, start = np.polyfit(macs, times, 1)
    spread = np.corrcoef(macs, times)[0, 1] ** 2
    assert slope > 0
    with capsys.disabled():
        print(f"\n{start:.2f} ms + {slope:.4f} ms per million MACs, R² = {spread:.4f}")  # noqa: T201
