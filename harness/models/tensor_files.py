"""Network inputs and outputs as files: .npy, or raw bytes for an input."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.errors import UsageError
from harness.models.compiled import CompiledModel, Tensor


def read_inputs(paths: Sequence[Path], compiled: CompiledModel) -> tuple[bytes, ...]:
    """One input per network input, in the model's order.  Raises UsageError that names the file."""
    if len(paths) != len(compiled.inputs):
        raise UsageError(f"{compiled.name} has {len(compiled.inputs)} inputs, {len(paths)} were given")
    return tuple(
        _read(path, tensor, compiled.name) for path, tensor in zip(paths, compiled.inputs, strict=True)
    )


def output_folder(folder: Path) -> Path:
    """The folder, made when it is missing.  Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot use output folder {folder}: {error.strerror}") from error
    return folder


def write_tensor(path: Path, tensor: Tensor, data: bytes) -> Path:
    """Write a tensor as .npy; return the file."""
    np.save(path, np.frombuffer(data, dtype=tensor.dtype).reshape(tensor.shape))
    return path


def _read(path: Path, tensor: Tensor, model: str) -> bytes:
    try:
        array = path.suffix == ".npy"
        data = np.load(path, allow_pickle=False).tobytes() if array else path.read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read input {path}: {error}") from error
    if len(data) != tensor.size:
        shape = "x".join(map(str, tensor.shape))
        raise UsageError(
            f"{path} holds {len(data)} bytes; input {tensor.name!r} of {model} takes {tensor.size} "
            f"({tensor.dtype}, shape {shape})"
        )
    return bytes(data)
