"""`harness compare`: one verdict on models across lifetime modes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from harness.cli.options import settings_from, settings_options


@click.command("compare", epilog="Example: harness compare ds_cnn my.tflite --macs 512 --json result.json")
@click.argument("models", nargs=-1)
@click.option("--modes", default="driver", show_default=True, help="Modes to compare: driver, all, or axes.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the full result to a file.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Models at a time.")
@settings_options
def compare_command(
    models: tuple[str, ...], modes: str, json_path: Path | None, jobs: int, **chosen: Any
) -> int:
    """Run MODELS in every mode and compare outputs, NPU cycles and CPU instructions.

    MODELS are names (see `harness models`) or paths to .tflite or Vela .npz files; without any, the four
    reference networks. Exit code: 0 all equal, 1 a comparison failed, 2 wrong input, 3 tool or board failed,
    4 firmware or NPU fault.
    """
    from rich.console import Console

    from harness.cli.progress import showing_progress
    from harness.cli.table import WIDTH, print_report
    from harness.models.catalog import REFERENCE_NETWORKS
    from harness.pipeline import compare_models

    settings = settings_from(modes, chosen)
    if json_path is not None:
        check_writable(json_path)
    with showing_progress() as progress:
        report = compare_models(models or REFERENCE_NETWORKS, settings, jobs=jobs, progress=progress)
    if json_path is not None:
        json_path.write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")
    print_report(report, Console(width=WIDTH))
    return report.exit_code


def check_writable(path: Path) -> None:
    """Refuse a result file that cannot be written before any work is done for it."""
    from harness.errors import UsageError

    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UsageError(f"cannot write {path}: its folder does not exist, or it is a folder itself")
