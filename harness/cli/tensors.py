"""Input and output tensors on the command line: the options that name them, the lines that show them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.models.compiled import CompiledModel


def tensor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --input as `input_paths` and --output-dir as `output_dir`."""
    files = click.Path(path_type=Path)
    folder = click.option("--output-dir", type=files, help="Folder for the output tensors (.npy).")
    inputs = click.option(
        "--input",
        "input_paths",
        type=files,
        multiple=True,
        help="Input tensor, .npy or raw bytes; one per network input.  [default: seeded random input A]",
    )
    return inputs(folder(command))


def show_outputs(compiled: CompiledModel, outputs: Sequence[bytes], folder: Path | None) -> None:
    """Print a line for each output tensor; with a folder, write each as .npy there."""
    from harness.models.tensor_files import write_tensor

    for number, (tensor, data) in enumerate(zip(compiled.outputs, outputs, strict=True)):
        place = f"sha256 {hashlib.sha256(data).hexdigest()}"
        if folder is not None:
            place = str(write_tensor(folder / f"output{number}.npy", tensor, data))
        shape = "x".join(map(str, tensor.shape))
        click.echo(f"output {number} {tensor.name!r} {tensor.dtype} {shape}: {place}")
