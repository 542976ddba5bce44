"""Fixtures for the memory checks: a compiled network, its buffers, and ways to spoil its stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from harness.models.catalog import ModelSource, load_model
from harness.models.compiled import CompiledModel, Tensor
from harness.models.vela import CompileOptions, VelaCompiler, compile_model
from harness.sim.npu import NpuConfig, parse_payload
from harness.sim.npu.checks import CheckReport, Region, check_stream, direct_drive
from harness.sim.npu.faults import NpuFault
from harness.sim.npu.stream import Command, trace

GRANULE = 64


@dataclass(frozen=True)
class Checked:
    """A stream and the buffers that it is run with."""

    stream: bytes
    config: NpuConfig
    regions: tuple[Region, ...]
    encode: Callable[..., bytes]

    def report(self) -> CheckReport:
        return check_stream(self.stream, self.config, self.regions)

    def kinds(self) -> set[str]:
        """The names of the checks that have a finding."""
        return {str(finding.check) for finding in self.report().findings}

    def commands(self, *names: str) -> Iterator[Command]:
        for command in trace(self.stream):
            assert not isinstance(command, NpuFault), command
            if command.name in names:
                yield command

    def without(self, command: Command) -> Checked:
        """The same with a command of one word left out."""
        assert command.name.startswith("OP_")
        return self._spliced(command.offset, 4, b"")

    def with_fields(self, command: Command, **fields: int) -> Checked:
        """The same with other values in a command."""
        code = self.encode(command.name, **{**command.fields, **fields})
        return self._spliced(command.offset, len(code), code)

    def with_register(self, name: str, value: int) -> Checked:
        """The same with a register that is set once set to another value."""
        (command,) = self.commands(name)
        return self.with_fields(command, value=value)

    def with_region(self, number: int, **changes: Any) -> Checked:
        """The same with one buffer changed."""
        regions = list(self.regions)
        regions[number] = replace(regions[number], **changes)
        return replace(self, regions=tuple(regions))

    def _spliced(self, offset: int, length: int, code: bytes) -> Checked:
        return replace(self, stream=self.stream[:offset] + code + self.stream[offset + length :])


def _buffers(compiled: CompiledModel) -> tuple[Region, ...]:
    """Buffers of exactly the sizes that the compiler asks for, in some order of addresses."""
    sizes = (
        len(compiled.weights),
        compiled.scratch_size,
        compiled.scratch_fast_size,
        _end(compiled.inputs),
        _end(compiled.outputs),
    )
    bases = [0x10000]
    for size in sizes:
        bases.append(bases[-1] + GRANULE + -(-size // GRANULE) * GRANULE)
    return direct_drive(tuple(bases[:-1]), sizes)


def _end(tensors: tuple[Tensor, ...]) -> int:
    return max(tensor.offset + tensor.size for tensor in tensors)


@pytest.fixture
def checked(command: Callable[..., bytes], fast_compiler: VelaCompiler) -> Callable[..., Checked]:
    """A function that compiles a model and gives it buffers."""

    def build(model: str | ModelSource, macs: int = 256, memory_mode: str = "Sram_Only") -> Checked:
        source = model if isinstance(model, ModelSource) else load_model(model)
        options = CompileOptions(macs=macs, memory_mode=memory_mode)
        compiled = compile_model(source, options, fast_compiler)
        stream = parse_payload(compiled.command_stream).stream
        return Checked(stream, NpuConfig(macs), _buffers(compiled), command)

    return build
