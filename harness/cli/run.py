"""`harness run`: one model in one mode, its outputs as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import settings_from, settings_options
from harness.cli.tensors import show_outputs, tensor_options
from harness.errors import FirmwareFault, UsageError

if TYPE_CHECKING:
    from harness.models.compiled import CompiledModel
    from harness.results.run_record import CellRecord, RunRecord


@click.command(
    "run", epilog="Example: harness run ds_cnn --mode persistent --input speech.npy --output-dir out"
)
@click.argument("model")
@click.option("--mode", default="persistent", show_default=True, help="One lifetime mode.")
@click.option("--dry-run", is_flag=True, help="Print the command that would run it, to be pasted.")
@tensor_options
@settings_options
def run_command(
    model: str,
    mode: str,
    dry_run: bool,
    input_paths: tuple[Path, ...],
    output_dir: Path | None,
    **chosen: Any,
) -> int:
    """Run MODEL once and write each output tensor as .npy."""
    from harness import dry_run as dry
    from harness.examination import run_model
    from harness.models.catalog import load_model
    from harness.models.inputs import InputSet, standard_inputs
    from harness.models.tensor_files import output_folder, read_inputs
    from harness.models.vela import compile_model
    from harness.plan import PlannedModel, plan_comparison

    settings = settings_from(mode, chosen)
    if len(settings.modes) != 1:
        raise UsageError(f"`harness run` takes one mode, {mode!r} names {len(settings.modes)}")
    source = load_model(model)
    compiled = compile_model(source, settings.compile_options(source))
    inputs = standard_inputs(compiled)[0]
    if input_paths:
        inputs = InputSet(input_paths[0].name, read_inputs(input_paths, compiled))
    if dry_run:
        plan = plan_comparison(PlannedModel(compiled, (inputs,)), settings.modes, (0,))
        click.echo(dry.dry_run(plan, settings))
        return 0
    folder = None if output_dir is None else output_folder(output_dir)
    record = run_model(compiled, (inputs,), (0,), settings)
    (inference,) = _completed_cell(record, compiled).inferences
    click.echo(f"{compiled.name}: {inference.npu_cycles} NPU cycles, {inference.stage.cost} CPU instructions")
    show_outputs(compiled, inference.outputs, folder)
    return 0


def _completed_cell(record: RunRecord, compiled: CompiledModel) -> CellRecord:
    if record.faults:
        raise FirmwareFault(f"{compiled.name}: {record.faults[0]}")
    (cell,) = record.cells
    if cell.status != "ok" or any(inference.status != "ok" for inference in cell.inferences):
        raise FirmwareFault(f"{compiled.name} in {cell.mode}: ended with {cell.status}")
    return cell
