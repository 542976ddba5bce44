"""`harness npu`: the NPU model alone, on one network: its commands, its outputs, its cycles."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.cli.tensors import show_outputs, tensor_options
from harness.errors import ExitCode, UsageError
from harness.models.compiled import MAC_COUNTS

if TYPE_CHECKING:
    from harness.models.catalog import ModelSource
    from harness.models.vela import CompileOptions
    from harness.sim.npu.cycles import VelaProfile

Command = TypeVar("Command", bound=Callable[..., Any])

_STANDARD_OUTPUT = Path("-")

_COMPILE_OPTIONS = (
    click.option(
        "--macs",
        type=click.Choice([str(count) for count in MAC_COUNTS]),
        callback=lambda _context, _parameter, value: None if value is None else int(value),
        help="Ethos-U85 MACs per cycle.  [default: 256, or what the model was compiled for]",
    ),
    click.option(
        "--system-config", default="Ethos_U85_SYS_DRAM_Mid", show_default=True, help="Vela system config."
    ),
    click.option("--memory-mode", default="Sram_Only", show_default=True, help="Vela memory mode."),
)
# Only where no cycles are shown: the speeds of memories in a configuration file of one's own are not read.
_config_option = click.option(
    "--vela-config", type=click.Path(path_type=Path), help="Vela configuration file (.ini)."
)


def _compile_options(command: Command) -> Command:
    for option in reversed(_COMPILE_OPTIONS):
        command = option(command)
    return command


@click.group("npu", epilog="Example: harness npu profile my.tflite --macs 512")
def npu_group() -> None:
    """Look into what the NPU does with one network: no firmware, no processor.

    A model is a name (see `harness models`) or the path of a .tflite, .tosa, Vela .npz or ExecuTorch .pte
    file.
    """


@npu_group.command("disasm", epilog="Example: harness npu disasm ds_cnn | less")
@click.argument("model")
@_compile_options
@_config_option
def disasm_command(model: str, **chosen: Any) -> int:
    """Print MODEL's command stream.

    Each line is a command: its offset, its name, its fields. Before each operation stands the layer it comes
    from.
    """
    from harness.npu_tools.disassembly import by_operation, disassemble
    from harness.npu_tools.layers import compile_with_layers, origin
    from harness.sim.npu import parse_payload

    named = compile_with_layers(*_request(model, chosen))
    stream = parse_payload(named.compiled.command_stream).stream
    for instructions in by_operation(disassemble(named.compiled.name, stream)):
        last = instructions[-1]
        if last.operation:
            click.echo(origin(last.operation, last.offset, named.layers))
        for instruction in instructions:
            click.echo(f"  {instruction}")
    return ExitCode.OK


@npu_group.command("run", epilog="Example: harness npu run ds_cnn --input speech.npy --output-dir out")
@click.argument("model")
@tensor_options
@_compile_options
def run_command(model: str, input_paths: tuple[Path, ...], output_dir: Path | None, **chosen: Any) -> int:
    """Run MODEL once on the NPU model; write each output tensor as .npy.

    Exit code: 0 the network ran, 2 wrong input, 3 Vela is missing or failed, 4 the NPU reported a fault.
    """
    from harness.models.inputs import standard_inputs
    from harness.models.tensor_files import output_folder, read_inputs
    from harness.models.vela import compile_model
    from harness.npu_tools.inference import infer

    memory = _memory(chosen)
    compiled = compile_model(*_request(model, chosen))
    inputs = read_inputs(input_paths, compiled) if input_paths else standard_inputs(compiled)[0].tensors
    folder = None if output_dir is None else output_folder(output_dir)
    inference = infer(compiled, inputs, memory)
    where = f"estimate for {memory.system_config}, {memory.memory_mode}"
    click.echo(f"{compiled.name}: ran to its end, {inference.cycles} NPU cycles ({where})")
    show_outputs(compiled, inference.outputs, folder)
    return ExitCode.OK


@npu_group.command("profile", epilog="Example: harness npu profile resnet8 --macs 512 --trace resnet8.json")
@click.argument("model")
@click.option("--all", "everything", is_flag=True, help="Show every operation of a long network.")
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Write all figures to a file; - prints them in place of the table.",
)
@click.option(
    "--trace",
    "trace_path",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Write a timeline for Perfetto or chrome://tracing, a microsecond for 1000 cycles; - prints it.",
)
@_compile_options
def profile_command(
    model: str, everything: bool, json_path: Path | None, trace_path: Path | None, **chosen: Any
) -> int:
    """Show where MODEL's NPU cycles go.

    For each operation its cost by term, and what bounds it. All figures are estimates, with the data where
    --memory-mode says; that a simulated board keeps them elsewhere makes its cycles others.
    """
    from rich.console import Console

    from harness.cli.table import WIDTH
    from harness.npu_tools.layers import compile_with_layers
    from harness.npu_tools.profile import profile
    from harness.npu_tools.table import print_profile
    from harness.npu_tools.trace import to_trace

    files = [path for path in (json_path, trace_path) if path is not None]
    _check(files)
    memory = _memory(chosen)
    found = profile(compile_with_layers(*_request(model, chosen)), memory)
    if json_path is not None:
        _write(json_path, json.dumps(found.to_json(), indent=1))
    if trace_path is not None:
        _write(trace_path, json.dumps(to_trace(found)))
    if _STANDARD_OUTPUT not in files:
        print_profile(found, Console(width=WIDTH), everything=everything)
    return ExitCode.OK


@npu_group.command("diff", epilog="Example: harness npu diff before.tflite after_vela.npz")
@click.argument("left")
@click.argument("right")
@_compile_options
@_config_option
def diff_command(left: str, right: str, **chosen: Any) -> int:
    """Show the first command in which LEFT and RIGHT differ once compiled.

    Exit code: 0 streams and weights are equal, 1 they differ.
    """
    from harness.npu_tools.difference import compare_models
    from harness.npu_tools.layers import compile_with_layers

    before, after = (compile_with_layers(*_request(model, chosen)) for model in (left, right))
    comparison = compare_models(before.compiled, after.compiled)
    for line in comparison.lines(before.layers):
        click.echo(line)
    return ExitCode.OK if comparison.equal else ExitCode.FAILED


def _request(model: str, chosen: dict[str, Any]) -> tuple[ModelSource, CompileOptions]:
    """What is to be compiled, and how."""
    from harness.models.catalog import load_model
    from harness.models.vela import CompileOptions

    return load_model(model), CompileOptions(**chosen)


def _memory(chosen: dict[str, Any]) -> VelaProfile:
    """The memories that the estimate is for.  Raises UsageError for one whose speeds are not known."""
    from harness.sim.npu.cycles import ProfileError, VelaProfile

    try:
        return VelaProfile(chosen["system_config"], chosen["memory_mode"])
    except ProfileError as error:
        raise UsageError(str(error)) from error


def _check(files: Sequence[Path]) -> None:
    """Refuse files that cannot be written before any work is done.  Raises UsageError."""
    if files.count(_STANDARD_OUTPUT) > 1:
        raise UsageError("only one of --json and --trace can go to standard output")
    for path in files:
        if path != _STANDARD_OUTPUT and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise UsageError(f"cannot write {path}: its folder does not exist, or it is a folder itself")


def _write(path: Path, text: str) -> None:
    """Write to a file, or print.  Raises UsageError."""
    if path == _STANDARD_OUTPUT:
        click.echo(text)
        return
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
