"""Fixtures for the NPU tests: flat memory, commands, register sets, and networks placed in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.models.catalog import ModelSource, load_model
from harness.models.compiled import CompiledModel, Tensor
from harness.models.oracle import installed_version, tflite_micro_outputs
from harness.models.tail import cut_before_softmax
from harness.models.vela import CompileOptions, VelaCompiler, compile_model, installed_compiler
from harness.sim.npu import BusFault, EthosU85, Execution, NpuConfig, execute, parse_payload
from harness.sim.npu.checks import check_stream, direct_drive
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import CMD0, CMD1, Encoding
from harness.sim.npu.registers import Registers
from harness.sim.npu.stream import Command

from .forking_vela import forking_vela

UNTOUCHED = 0xA5  #: what memory holds before anything is written to it
GRANULE = 64


class FlatMemory:
    """Memory from address 0 to `size`, and nothing else."""

    def __init__(self, size: int) -> None:
        self.content: NDArray[np.uint8] = np.full(size, UNTOUCHED, np.uint8)

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        if address < 0 or address + size > len(self.content):
            raise BusFault(address, size)
        return self.content[address : address + size]


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


@pytest.fixture(scope="session")
def fast_compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VelaCompiler]:
    """Vela without its start-up time."""
    with forking_vela(tmp_path_factory.mktemp("vela")) as command:
        yield VelaCompiler(command, installed_compiler().version)


@pytest.fixture
def flat_memory() -> type[FlatMemory]:
    return FlatMemory


@pytest.fixture
def clock() -> Clock:
    return Clock()


def encode(name: str, **fields: int) -> bytes:
    """Return the word or words of one command; `address` stands for a 40-bit value."""
    for long, table in ((False, CMD0), (True, CMD1)):
        for opcode, encoding in table.items():
            if encoding.name == name:
                return _pack(encoding, opcode, long, fields)
    raise LookupError(name)


def _pack(encoding: Encoding, opcode: int, long: bool, fields: dict[str, int]) -> bytes:
    if "high" in encoding.fields and "value" in fields:
        fields = {"value": fields["value"] & 0xFFFFFFFF, "high": fields["value"] >> 32}
    word = opcode | long << 14
    for field, value in fields.items():
        bits = encoding.fields[field]
        assert 0 <= value < 1 << bits.width, (encoding.name, field, value)
        word |= value << bits.low
    return word.to_bytes(8 if long else 4, "little")


@pytest.fixture
def command() -> Callable[..., bytes]:
    """A function that assembles one command."""
    return encode


@pytest.fixture
def stream() -> Callable[..., bytes]:
    """A function that assembles commands, given as (name, fields), and the OP_STOP after them."""

    def assemble(*commands: tuple[str, dict[str, int]]) -> bytes:
        return b"".join(encode(name, **fields) for name, fields in commands) + encode("OP_STOP", mask=0xFFFF)

    return assemble


@pytest.fixture
def registers() -> Callable[..., Registers]:
    """A function that sets registers: a number sets the field `value`, a dict the fields it names."""

    def build(**settings: int | dict[str, int]) -> Registers:
        state = Registers()
        for name, setting in settings.items():
            (encoding,) = [e for e in (*CMD0.values(), *CMD1.values()) if e.name == name]
            fields = {"value": setting} if isinstance(setting, int) else setting
            state.set(Command(0, encoding, dict.fromkeys(encoding.fields, 0) | fields))
        return state

    return build


@dataclass(frozen=True)
class Network:
    """A compiled network with a memory of its own."""

    compiled: CompiledModel
    memory: FlatMemory
    bases: tuple[int, ...]
    stream_address: int
    tflite: bytes

    @property
    def config(self) -> NpuConfig:
        return NpuConfig(self.compiled.macs)

    @property
    def stream(self) -> bytes:
        return parse_payload(self.compiled.command_stream).stream

    def fill(self, inputs: Sequence[bytes]) -> None:
        """Put the inputs in place and make everything else that can change unrecognisable."""
        self.memory.content[self.bases[1] : self.stream_address] = UNTOUCHED
        for tensor, data in zip(self.compiled.inputs, inputs, strict=True):
            self._bytes(tensor)[:] = np.frombuffer(data, np.uint8)

    def run(self, inputs: Sequence[bytes]) -> tuple[bytes, ...]:
        """Return the outputs for one set of inputs."""
        self.fill(inputs)
        execution = self.execute()
        assert execution.fault is None, execution.fault
        return self.outputs()

    def execute(self) -> Execution:
        return execute(self.stream, self.config, self.memory, self.bases)

    def outputs(self) -> tuple[bytes, ...]:
        return tuple(self._bytes(tensor).tobytes() for tensor in self.compiled.outputs)

    def reference(self, samples: Sequence[Sequence[bytes]]) -> tuple[tuple[bytes, ...], ...]:
        """Return what tflite-micro computes."""
        return tflite_micro_outputs(self.compiled.name, self.tflite, samples)

    def samples(self, count: int) -> list[tuple[bytes, ...]]:
        """Return seeded inputs, the lowest and the highest numbers among them."""
        generator = np.random.default_rng(count)

        def sample(index: int, tensor: Tensor) -> bytes:
            limits = np.iinfo(tensor.dtype)
            extreme = {0: limits.min, 1: limits.max}.get(index)
            values = generator.integers(limits.min, limits.max, tensor.size, endpoint=True)
            if extreme is not None:
                values[:] = extreme
            return values.astype(tensor.dtype).tobytes()[: tensor.size]

        return [tuple(sample(index, tensor) for tensor in self.compiled.inputs) for index in range(count)]

    def device(self, clock: Callable[[], int]) -> EthosU85:
        """Return an NPU that has been told everything but to run."""
        npu = EthosU85(self.config, self.memory, clock)
        self.set_up(npu)
        return npu

    def set_up(self, npu: EthosU85) -> None:
        """Do what a driver does between reset and run."""
        npu.write(0x10, self.stream_address)
        npu.write(0x20, len(self.stream))
        for region, base in enumerate(self.bases):
            npu.write(0x80 + 8 * region, base)

    def _bytes(self, tensor: Tensor) -> NDArray[np.uint8]:
        return self.memory.view(self.bases[tensor.region] + tensor.offset, tensor.size)


def _place(compiled: CompiledModel, tflite: bytes) -> Network:
    ends = {
        region: max((t.offset + t.size for t in tensors), default=0)
        for region, tensors in ((3, compiled.inputs), (4, compiled.outputs))
    }
    sizes = [len(compiled.weights), compiled.scratch_size, compiled.scratch_fast_size, ends[3], ends[4]]
    bases = [0]
    for size in sizes:
        bases.append(bases[-1] + -(-size // GRANULE) * GRANULE)
    stream = parse_payload(compiled.command_stream).stream
    report = check_stream(stream, NpuConfig(compiled.macs), direct_drive(tuple(bases[:-1]), tuple(sizes)))
    assert not report.findings, "\n".join(map(str, report.findings))
    memory = FlatMemory(bases[-1] + len(stream))
    memory.content[: len(compiled.weights)] = np.frombuffer(compiled.weights, np.uint8)
    memory.content[bases[-1] :] = np.frombuffer(stream, np.uint8)
    return Network(compiled, memory, tuple(bases[:-1]), bases[-1], tflite)


@pytest.fixture
def network(fast_compiler: VelaCompiler) -> Callable[..., Network]:
    """A function that compiles a model, its softmax cut off if wanted, and places it in memory."""

    def place(model: str | Path | ModelSource, macs: int, *, cut: bool = False) -> Network:
        source = model if isinstance(model, ModelSource) else load_model(model)
        if cut:
            shorter = cut_before_softmax(source.name, source.data)
            source = ModelSource(f"{source.name}-cut", shorter, source.kind)
        return _place(compile_model(source, CompileOptions(macs=macs), fast_compiler), source.data)

    return place


@pytest.fixture
def tflite_micro() -> None:
    """Skip the test where there is no tflite-micro."""
    if installed_version() is None:
        pytest.skip("tflite-micro is not installed")


@pytest.fixture
def machine(flat_memory: type[FlatMemory]) -> Machine:
    """A machine with 64 KiB of memory at the base pointer of region 0."""
    ready = Machine(flat_memory(1 << 16))
    ready.start([0])
    return ready
