"""Which operator of the original model each NPU operation comes from: Vela's debug database.

Its tables: Vela 5.2, DEBUG_DB.md.  A row of `queue` has the offset of the command that starts an operation,
and leads by way of `optimised` to the operator in `source`, whose `ext_key` counts operators as the .tflite
does.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from harness.cache import cached_folder, content_key
from harness.errors import BuildError
from harness.models.catalog import ModelKind, ModelSource
from harness.models.compiled import CompiledModel
from harness.models.output_form import output_form
from harness.models.tflite_file import TfliteGraph, read_tflite
from harness.models.vela import (
    BUNDLED_CONFIG,
    TIMEOUT_S,
    CompileOptions,
    VelaCompiler,
    compile_model,
    installed_compiler,
)
from harness.processes import run_tool

_STEM = "model"


@dataclass(frozen=True)
class Layer:
    """One operator of the original model."""

    index: int  #: position in the .tflite file
    operator: str  #: such as "CONV_2D"
    name: str
    """Of its first output, or input where it has none; a converter joins what it has fused by semicolons."""

    @property
    def short_name(self) -> str:
        """The first of the fused names."""
        return self.name.partition(";")[0]

    def __str__(self) -> str:
        return f"layer {self.index} {self.operator} {self.short_name}"


Layers = Mapping[int, Layer]
"""Layers by the offset of the command that starts the operation; one that Vela does not know has none."""


def origin(operation: str, offset: int, layers: Layers) -> str:
    """An operation and the layer it comes from, in words; the operation alone when that is not known."""
    layer = layers.get(offset)
    return operation if layer is None else f"{operation}: {layer}"


@dataclass(frozen=True)
class NamedModel:
    """A compiled model with the names of its layers."""

    compiled: CompiledModel
    layers: Layers  #: empty for a model that comes compiled: nothing in it names its layers


def compile_with_layers(
    source: ModelSource, options: CompileOptions, compiler: VelaCompiler | None = None
) -> NamedModel:
    """The model ready to run, with the names of its layers.  Raises as `compile_model`, and BuildError."""
    compiled = compile_model(source, options, compiler)
    if source.kind is not ModelKind.TFLITE:
        return NamedModel(compiled, {})
    compiler = compiler or installed_compiler()
    options = replace(options, extra=(*options.extra, "--enable-debug-db"))
    config = options.vela_config.read_bytes() if options.vela_config else BUNDLED_CONFIG
    graph = read_tflite(source.name, source.data)
    form = output_form(graph)
    arguments = (*options.arguments_for(form), options.config_argument)
    key = content_key(source.data, "\0".join(arguments), config, compiler.version)
    entry = cached_folder("vela-debug", key, lambda folder: _run(source, arguments, compiler, folder))
    stream = form.read(source.name, (entry / f"{_STEM}{form.suffix}").read_bytes()).command_stream
    if stream != compiled.command_stream:
        raise BuildError(f"Vela compiles {source.name} differently when it writes its debug database")
    database = (entry / f"{_STEM}_debug.xml").read_bytes()
    return NamedModel(compiled, read_layers(database, graph))


def read_layers(database: bytes, graph: TfliteGraph) -> Layers:
    """The layers by command offset.  Raises BuildError for a database of another form."""
    try:
        root = ElementTree.fromstring(database)  # noqa: S314 - our own Vela has written it
        tables = {table.get("name"): table.text or "" for table in root.iter("table")}
        source_of = {row["id"]: row["source_id"] for row in _rows(tables["optimised"])}
        index_of = {row["id"]: int(row["ext_key"]) for row in _rows(tables["source"])}
        indices = {
            int(row["offset"]): index_of.get(source_of[row["optimised_id"]]) for row in _rows(tables["queue"])
        }
        return {offset: _layer(graph, index) for offset, index in indices.items() if index is not None}
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise BuildError(f"Vela's debug database cannot be read: {error!r}") from error


def _rows(table: str) -> csv.DictReader[str]:
    return csv.DictReader(table.strip().splitlines())


def _layer(graph: TfliteGraph, index: int) -> Layer:
    operator = graph.operators[index]
    named = (*operator.outputs, *operator.inputs)[0]
    return Layer(index, operator.name, graph.tensors[named].name)


def _run(source: ModelSource, arguments: Sequence[str], compiler: VelaCompiler, folder: Path) -> None:
    """Compile `source` in `folder`, which then holds Vela's output and database."""
    model = f"{_STEM}.tflite"
    (folder / model).write_bytes(source.data)
    command = [*compiler.command, model, *arguments, "--output-dir=."]
    done = run_tool(command, timeout_seconds=TIMEOUT_S, cwd=folder)
    if done.status != 0 or not (folder / f"{_STEM}_debug.xml").is_file():
        raise BuildError(f"Vela wrote no debug database for {source.name}", evidence=done.tail())
