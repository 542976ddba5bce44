"""Compiling with Vela for direct drive: a program of its own, cached by all its result depends on."""

from __future__ import annotations

import importlib.metadata
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.cache import cached_folder, content_key
from harness.errors import BuildError, ModelError, UsageError
from harness.models.catalog import ModelKind, ModelSource
from harness.models.compiled import MAC_COUNTS, CompiledModel
from harness.models.output_form import DIRECT_DRIVE, OutputForm, output_form
from harness.models.payload import payload_macs
from harness.models.placement import place_tensors
from harness.models.precompiled import open_precompiled
from harness.models.tflite_file import TfliteGraph, read_tflite
from harness.models.tosa_file import TosaGraph, read_tosa
from harness.models.vela_raw import RawNetwork
from harness.processes import Finished, run_tool

DEFAULT_MACS = 256
BUNDLED_CONFIG = "Arm/vela.ini"  #: looked up by Vela among the configuration files it ships
TIMEOUT_S = 300.0  #: the largest network seen takes under 10 s

_CACHE_SCHEMA = "1"  #: to be raised when the meaning of a cache entry changes
_STEM = "model"
_EVIDENCE_LINES = 12
_FLOAT_TYPES = frozenset({"float16", "float32", "float64"})

# The message of regor/compiler/raw_writer.cpp (Vela 5.2) for operators that stay on the CPU.
_CPU_OPERATORS = re.compile(r"passthrough/CPU operations \(found ([^)]*)\)")
_NO_NPU_OPERATOR = re.compile(r"RawWriter expects .*\(found 0 operations\)")
# What Vela's argument parser says, and the exceptions it raises for its options (Vela 5.2, errors.py).
_OPTION_ERROR = re.compile(
    r"^(?:vela: error|\S*(?:CliOptionError|ConfigOptionError)): '?(?:Error: )?(.*?)'?$", re.MULTILINE
)
_TELLING_LINE = re.compile(r"^(Warning|Reason|Error|vela: error|\S*Error:)")


@dataclass(frozen=True)
class CompileOptions:
    """What the user may choose about a compilation."""

    macs: int | None = None  #: one of MAC_COUNTS; None takes a precompiled model's own, else DEFAULT_MACS
    system_config: str = "Ethos_U85_SYS_DRAM_Mid"
    memory_mode: str = "Sram_Only"
    vela_config: Path | None = None  #: a configuration file of the user's; None takes the one Vela ships
    extra: tuple[str, ...] = ()  #: further Vela options, such as ("--optimise", "Size")

    def __post_init__(self) -> None:
        if self.macs is not None and self.macs not in MAC_COUNTS:
            allowed = ", ".join(map(str, MAC_COUNTS))
            raise UsageError(f"there is no Ethos-U85 with {self.macs} MACs; allowed: {allowed}")
        if self.vela_config is not None and not self.vela_config.is_file():
            raise UsageError(f"the Vela configuration file {self.vela_config} does not exist")

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options as Vela takes them for direct drive, without the configuration file."""
        return self.arguments_for(DIRECT_DRIVE)

    def arguments_for(self, form: OutputForm) -> tuple[str, ...]:
        """The options with which Vela writes a form of output, without the configuration file."""
        return (
            f"--accelerator-config=ethos-u85-{self.macs or DEFAULT_MACS}",
            f"--system-config={self.system_config}",
            f"--memory-mode={self.memory_mode}",
            *form.options,
            *self.extra,
        )

    @property
    def config_argument(self) -> str:
        """The configuration file as Vela takes it."""
        return f"--config={self.vela_config.resolve() if self.vela_config else BUNDLED_CONFIG}"


@dataclass(frozen=True)
class VelaCompiler:
    """A Vela to run: its command and its version, which is part of every cache key and every result."""

    command: tuple[str, ...]
    version: str


def installed_compiler() -> VelaCompiler:
    """The Vela of this Python environment. Raises BuildError when there is none."""
    try:
        version = importlib.metadata.version("ethos-u-vela")
    except importlib.metadata.PackageNotFoundError as error:
        raise BuildError("Vela is not installed", hint="pip install ethos-u-vela") from error
    return VelaCompiler(command=(sys.executable, "-P", "-m", "ethosu.vela"), version=version)


def compile_model(
    source: ModelSource, options: CompileOptions | None = None, compiler: VelaCompiler | None = None
) -> CompiledModel:
    """The model ready for direct drive: compiled, or opened when it is compiled already.

    Raises ModelError that names the model and the reason when it cannot be run, UsageError when Vela does not
    know an option, BuildError when there is no Vela.
    """
    options = options or CompileOptions()
    if not source.kind.is_source:
        return open_precompiled(source, options.macs)
    graph, form = _read(source)
    request = _Request(source, options.arguments_for(form), options, compiler or installed_compiler(), form)
    entry = cached_folder("vela", request.cache_key, lambda folder: _run(request, folder))
    raw = form.read(source.name, (entry / request.output_file).read_bytes())
    return _assemble(request, graph, raw)


def _read(source: ModelSource) -> tuple[TfliteGraph | TosaGraph, OutputForm]:
    """What the file says, and what Vela is to write for it."""
    if source.kind is ModelKind.TOSA:
        return read_tosa(source.name, source.data), DIRECT_DRIVE
    graph = read_tflite(source.name, source.data)
    _check_graph(source.name, graph)
    return graph, output_form(graph)


@dataclass(frozen=True)
class _Request:
    """One compilation."""

    source: ModelSource
    arguments: tuple[str, ...]
    options: CompileOptions
    compiler: VelaCompiler
    form: OutputForm

    @property
    def model_file(self) -> str:
        return f"{_STEM}.{self.source.kind}"

    @property
    def output_file(self) -> str:
        return f"{_STEM}{self.form.suffix}"

    @property
    def cache_key(self) -> str:
        chosen = self.options.vela_config
        config = chosen.read_bytes() if chosen else BUNDLED_CONFIG
        arguments = "\0".join(self.arguments)
        return content_key(_CACHE_SCHEMA, self.source.data, arguments, config, self.compiler.version)


def _check_graph(name: str, graph: TfliteGraph) -> None:
    """Refuses what Vela would accept in part or explain badly."""
    if not graph.operators:
        raise ModelError(f"{name} has no operator: there is nothing to run on the NPU")
    used = {index for operator in graph.operators for index in (*operator.inputs, *operator.outputs)}
    for tensor in (
        graph.tensors[index] for index in sorted(used | {*graph.inputs, *graph.outputs}) if index >= 0
    ):
        if tensor.dtype in _FLOAT_TYPES:
            raise ModelError(
                f"{name} is not fully quantised: its tensor {tensor.name!r} is {tensor.dtype}",
                hint="convert it with full integer quantisation, inputs and outputs included",
            )
        # Vela takes an open first dimension, the batch, as 1; it knows no other open dimension.
        if -1 in tensor.shape_signature[1:] or any(dimension < 0 for dimension in tensor.shape):
            raise ModelError(
                f"{name} has a dynamic shape: tensor {tensor.name!r} is "
                f"{list(tensor.shape_signature or tensor.shape)}",
                hint="convert it with fixed input shapes",
            )


def _run(request: _Request, folder: Path) -> None:
    """Compiles into `folder`, which then holds the model, Vela's output and Vela's log."""
    source, compiler = request.source, request.compiler
    (folder / request.model_file).write_bytes(source.data)
    options = (*request.arguments, request.options.config_argument, "--output-dir=.")
    command = [*compiler.command, request.model_file, *options]
    try:
        done = run_tool(command, timeout_seconds=TIMEOUT_S, cwd=folder)
    except FileNotFoundError as error:
        raise BuildError(f"Vela cannot be started: {error}", evidence=(" ".join(command),)) from error
    except TimeoutError as error:
        raise ModelError(
            f"Vela did not finish {source.name} within {TIMEOUT_S:.0f} s", evidence=(" ".join(command),)
        ) from error
    (folder / "vela.log").write_text(done.output)
    if done.status != 0:
        raise _failure(source.name, done)
    if not (folder / request.output_file).is_file():
        raise ModelError(
            f"Vela wrote no {request.form.name} for {source.name}",
            evidence=(" ".join(command), *done.tail()),
        )


def _failure(name: str, done: Finished) -> ModelError | UsageError:
    """The error for a Vela that did not succeed."""
    evidence = (" ".join(done.command), *_telling_lines(done))
    if done.status < 0:
        return ModelError(
            f"Vela crashed while compiling {name}: it was killed by {signal.Signals(-done.status).name}",
            hint="another memory mode, MAC count or version of Vela may compile it",
            evidence=evidence,
        )
    if option := _OPTION_ERROR.search(done.output):
        return UsageError(f"Vela does not accept its options: {option[1]}", evidence=evidence)
    if left := _CPU_OPERATORS.search(done.output):
        return ModelError(
            f"{name} cannot run on the NPU alone: Vela leaves {left[1]} on the CPU",
            hint="direct drive has no CPU operators; Vela's own warnings say what it wants",
            evidence=evidence,
        )
    if _NO_NPU_OPERATOR.search(done.output):
        return ModelError(f"{name} has no operator that Vela puts on the NPU", evidence=evidence)
    return ModelError(f"Vela failed on {name} with exit status {done.status}", evidence=evidence)


def _telling_lines(done: Finished) -> tuple[str, ...]:
    """The lines that name a cause; without any, the last ones."""
    telling = [line.rstrip() for line in done.output.splitlines() if _TELLING_LINE.match(line)]
    return tuple(telling[:_EVIDENCE_LINES]) or done.tail()


def _assemble(request: _Request, graph: TfliteGraph | TosaGraph, raw: RawNetwork) -> CompiledModel:
    source = request.source
    return CompiledModel(
        name=source.name,
        source_sha256=source.sha256,
        macs=payload_macs(source.name, raw.command_stream),
        command_stream=raw.command_stream,
        weights=raw.weights,
        scratch_size=raw.scratch_size,
        scratch_fast_size=raw.scratch_fast_size,
        inputs=place_tensors(source.name, "input", graph.input_tensors, raw.inputs),
        outputs=place_tensors(source.name, "output", graph.output_tensors, raw.outputs),
        vela_version=request.compiler.version,
        vela_options=(*request.arguments, request.options.config_argument),
        tflite=source.data if source.kind is ModelKind.TFLITE else None,
        tosa=source.data if source.kind is ModelKind.TOSA else None,
        variables=raw.variables,
    )
