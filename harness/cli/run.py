"""`harness run`: one model in one mode, its outputs as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import settings_from, settings_options
from harness.errors import FirmwareFault, UsageError

if TYPE_CHECKING:
    from harness.models.compiled import CompiledModel
    from harness.models.inputs import InputSet
    from harness.results.run_record import CellRecord, RunRecord


@click.command(
    "run", epilog="Example: harness run ds_cnn --mode persistent --input speech.npy --output-dir out"
)
@click.argument("model")
@click.option("--mode", default="persistent", show_default=True, help="One lifetime mode.")
@click.option(
    "--input",
    "input_paths",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Input tensor, .npy or raw bytes; one per network input.  [default: seeded random input A]",
)
@click.option("--output-dir", type=click.Path(path_type=Path), help="Folder for the output tensors (.npy).")
@settings_options
def run_command(
    model: str, mode: str, input_paths: tuple[Path, ...], output_dir: Path | None, **chosen: Any
) -> int:
    """Run MODEL once and write each output tensor as .npy."""
    from harness.examination import run_model
    from harness.models.catalog import load_model
    from harness.models.inputs import standard_inputs
    from harness.models.vela import compile_model

    settings = settings_from(mode, chosen)
    if len(settings.modes) != 1:
        raise UsageError(f"`harness run` takes one mode, {mode!r} names {len(settings.modes)}")
    source = load_model(model)
    compiled = compile_model(source, settings.compile_options(source))
    inputs = _read_inputs(input_paths, compiled) if input_paths else standard_inputs(compiled)[0]
    if output_dir is not None:
        _make_folder(output_dir)
    record = run_model(compiled, (inputs,), (0,), settings)
    cell = _completed_cell(record, compiled)
    _show(cell, compiled, output_dir)
    return 0


def _read_inputs(paths: tuple[Path, ...], compiled: CompiledModel) -> InputSet:
    from harness.models.inputs import InputSet

    if len(paths) != len(compiled.inputs):
        raise UsageError(f"{compiled.name} has {len(compiled.inputs)} inputs, {len(paths)} were given")
    tensors = []
    for path, tensor in zip(paths, compiled.inputs, strict=True):
        data = _read_tensor(path)
        if len(data) != tensor.size:
            raise UsageError(
                f"{path} holds {len(data)} bytes; input {tensor.name!r} of {compiled.name} takes "
                f"{tensor.size} ({tensor.dtype}, shape {'x'.join(map(str, tensor.shape))})"
            )
        tensors.append(data)
    return InputSet(label=paths[0].name, tensors=tuple(tensors))


def _read_tensor(path: Path) -> bytes:
    import numpy as np

    try:
        if path.suffix == ".npy":
            return bytes(np.load(path, allow_pickle=False).tobytes())
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read input {path}: {error}") from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot use output folder {folder}: {error.strerror}") from error


def _completed_cell(record: RunRecord, compiled: CompiledModel) -> CellRecord:
    if record.faults:
        raise FirmwareFault(f"{compiled.name}: {record.faults[0]}")
    (cell,) = record.cells
    if cell.status != "ok" or any(inference.status != "ok" for inference in cell.inferences):
        raise FirmwareFault(f"{compiled.name} in {cell.mode}: ended with {cell.status}")
    return cell


def _show(cell: CellRecord, compiled: CompiledModel, output_dir: Path | None) -> None:
    import numpy as np

    inference = cell.inferences[0]
    click.echo(f"{compiled.name}: {inference.npu_cycles} NPU cycles, {inference.stage.cost} CPU instructions")
    for number, (tensor, data) in enumerate(zip(compiled.outputs, inference.outputs, strict=True)):
        array = np.frombuffer(data, dtype=tensor.dtype).reshape(tensor.shape)
        place = f"sha256 {inference.digests[number]}"
        if output_dir is not None:
            path = output_dir / f"output{number}.npy"
            np.save(path, array)
            place = str(path)
        click.echo(
            f"output {number} {tensor.name!r} {tensor.dtype} {'x'.join(map(str, tensor.shape))}: {place}"
        )
