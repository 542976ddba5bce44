"""The oracle: what tflite-micro computes for a network, run as a program of its own and cached by content."""

from __future__ import annotations

import importlib.metadata
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.cache import cached_folder, content_key
from harness.errors import ModelError
from harness.models.samples import AnyArray, NoReferenceError, OutputBytes, input_arrays, outputs_by_sample
from harness.models.tflite_file import RESOURCE, TfliteGraph, read_tflite
from harness.processes import Finished, run_tool

TIMEOUT_S = 300.0

_CACHE_SCHEMA = "1"  #: to be raised when the meaning of a cache entry changes
_WORKER = Path(__file__).with_name("oracle_worker.py")
# What tflite-micro prints for an operator it does not have (tensorflow/lite/micro, micro_allocation and
# micro_interpreter_graph of the pinned version).
_UNSUPPORTED = ("Failed to get registration from op code", "Didn't find op for builtin opcode")
_ARENA_SPARE_BYTES = (
    1 << 20
)  #: operators, temporary tensors and scratch buffers of the networks seen take a tenth


def installed_version() -> str | None:
    """The version of tflite-micro in this Python environment; None without, as on most platforms."""
    try:
        return importlib.metadata.version("tflite-micro")
    except importlib.metadata.PackageNotFoundError:
        return None


def tflite_micro_outputs(
    name: str, data: bytes, samples: Sequence[Sequence[bytes]], *, keep_state: bool = False
) -> tuple[OutputBytes, ...]:
    """The outputs of the .tflite file `data` for each of `samples`, which hold one entry per network input.

    Variables are reset before each sample, or, with `keep_state`, before the first one only.
    Raises NoReferenceError for an operator that tflite-micro lacks, and ModelError when it fails or
    crashes, or when a sample does not fit the network's inputs.
    """
    if not samples:
        return ()
    graph = read_tflite(name, data)
    arrays = input_arrays(name, graph.input_tensors, samples)
    resets = 1 if keep_state else len(samples)
    contents = (data, *(array.tobytes() for array in arrays))
    key = content_key(_CACHE_SCHEMA, str(installed_version()), str(resets), *contents)
    entry = cached_folder("tflite-micro", key, lambda folder: _run(name, data, graph, arrays, resets, folder))
    columns = [np.load(entry / f"output{index}.npy") for index in range(len(graph.outputs))]
    return outputs_by_sample(columns, len(samples))


def _run(
    name: str, data: bytes, graph: TfliteGraph, arrays: Sequence[AnyArray], resets: int, folder: Path
) -> None:
    """Has the worker write the outputs into `folder`."""
    with tempfile.TemporaryDirectory(prefix="harness-oracle-") as scratch:
        model = Path(scratch) / "model.tflite"
        model.write_bytes(data)
        for index, array in enumerate(arrays):
            np.save(folder / f"input{index}.npy", array)
        counts = (str(len(arrays)), str(len(graph.outputs)), str(resets))
        # -P keeps the worker's own folder out of the import path.
        command = [
            sys.executable,
            "-P",
            str(_WORKER),
            str(model),
            str(_arena_size(graph)),
            str(folder),
            *counts,
        ]
        try:
            done = run_tool(command, timeout_seconds=TIMEOUT_S)
        except TimeoutError as error:
            raise ModelError(f"tflite-micro did not finish {name} within {TIMEOUT_S:.0f} s") from error
    if done.status != 0:
        raise _failure(name, done)


def _arena_size(graph: TfliteGraph) -> int:
    """Bytes enough for every tensor to have a place of its own twice over.

    A resource has none; its variable is as large as the tensors that it is read to and assigned from.
    """
    tensors = (tensor for tensor in graph.tensors if tensor.data is None and tensor.dtype != RESOURCE)
    return 2 * sum(tensor.size for tensor in tensors) + _ARENA_SPARE_BYTES


def _failure(name: str, done: Finished) -> ModelError:
    if done.status < 0:
        return ModelError(
            f"tflite-micro crashed on {name}: it was killed by {signal.Signals(-done.status).name}",
            evidence=done.tail(),
        )
    for line in done.output.splitlines():
        if line.startswith(_UNSUPPORTED):
            return NoReferenceError(f"tflite-micro lacks an operator of {name}: {line.strip()}")
    return ModelError(f"tflite-micro failed on {name} with exit status {done.status}", evidence=done.tail())
