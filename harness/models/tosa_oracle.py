"""The oracle of .tosa files: what Arm's TOSA reference model computes, cached by content.

It comes with tosa-tools, in an environment of its own, since tosa-tools wants other versions of libraries.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.cache import cached_folder, content_key
from harness.errors import BuildError, ModelError
from harness.models.samples import AnyArray, NoReferenceError, OutputBytes, input_arrays, outputs_by_sample
from harness.models.tosa_file import read_tosa
from harness.processes import Finished, run_tool

VARIABLE = "HARNESS_TOSA_PYTHON"  #: names the Python of an environment that has tosa-tools
TIMEOUT_S = 300.0

_CACHE_SCHEMA = "1"  #: to be raised when the meaning of a cache entry changes
_UNPREDICTABLE = 3  #: exit status of the worker
_WORKER = Path(__file__).with_name("tosa_worker.py")
_PACKAGE = "tosa-tools"
_ASK_VERSION = f"import importlib.metadata, json; print(json.dumps(importlib.metadata.version('{_PACKAGE}')))"
_QUESTION_SECONDS = 20.0


@dataclass(frozen=True)
class TosaReferenceModel:
    """The reference model: the Python that has it, and its version."""

    python: str
    version: str


def find_reference_model() -> TosaReferenceModel | None:
    """What VARIABLE names; None where it is not set. Raises BuildError when that has no tosa-tools."""
    python = os.environ.get(VARIABLE)
    return _ask(python) if python else None


@functools.cache
def _ask(python: str) -> TosaReferenceModel:
    try:
        done = run_tool([python, "-I", "-c", _ASK_VERSION], timeout_seconds=_QUESTION_SECONDS)
    except (OSError, TimeoutError) as error:
        raise BuildError(f"{VARIABLE} is {python}, which cannot be run: {error}", hint=_HINT) from error
    if done.status != 0:
        raise BuildError(f"{VARIABLE} is {python}, which has no {_PACKAGE}", hint=_HINT)
    return TosaReferenceModel(python, json.loads(done.output))


_HINT = f"python -m venv tosa && tosa/bin/pip install {_PACKAGE}, and export {VARIABLE}=$PWD/tosa/bin/python"


def tosa_outputs(
    reference: TosaReferenceModel, name: str, data: bytes, samples: Sequence[Sequence[bytes]]
) -> tuple[OutputBytes, ...]:
    """The outputs of the .tosa file `data` for each of `samples`, which hold one entry per network input.

    Raises NoReferenceError when TOSA leaves open what a sample leads to, such as a sum that overflows, and
    ModelError when the reference model fails or crashes, or when a sample does not fit the graph's inputs.
    """
    if not samples:
        return ()
    graph = read_tosa(name, data)
    arrays = input_arrays(name, graph.input_tensors, samples)
    contents = (data, *(array.tobytes() for array in arrays))
    key = content_key(_CACHE_SCHEMA, reference.version, *contents)
    entry = cached_folder("tosa", key, lambda folder: _run(reference, name, data, arrays, folder))
    columns = [np.load(entry / f"output{index}.npy") for index in range(len(graph.output_tensors))]
    return outputs_by_sample(columns, len(samples))


def _run(
    reference: TosaReferenceModel, name: str, data: bytes, arrays: Sequence[AnyArray], folder: Path
) -> None:
    """Have the worker write the outputs into `folder`."""
    with tempfile.TemporaryDirectory(prefix="harness-oracle-") as scratch:
        model = Path(scratch) / "model.tosa"
        model.write_bytes(data)
        for index, array in enumerate(arrays):
            np.save(folder / f"input{index}.npy", array)
        command = [reference.python, "-I", str(_WORKER), str(model), str(folder), str(len(arrays))]
        try:
            done = run_tool(command, timeout_seconds=TIMEOUT_S)
        except TimeoutError as error:
            raise ModelError(
                f"the TOSA reference model did not finish {name} within {TIMEOUT_S:.0f} s"
            ) from error
    if done.status != 0:
        raise _failure(name, done)


def _failure(name: str, done: Finished) -> ModelError:
    if done.status < 0:
        return ModelError(
            f"the TOSA reference model crashed on {name}: it was killed by "
            f"{signal.Signals(-done.status).name}",
            evidence=done.tail(),
        )
    if done.status == _UNPREDICTABLE:
        return NoReferenceError("the TOSA reference model calls what these inputs lead to unpredictable")
    return ModelError(
        f"the TOSA reference model failed on {name} with exit status {done.status}", evidence=done.tail()
    )
