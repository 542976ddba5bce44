"""Runs one graph in Arm's TOSA reference model: a program of its own, in an environment that has tosa-tools.

    python tosa_worker.py MODEL.tosa FOLDER INPUTS

FOLDER holds `input0.npy` to `input<INPUTS - 1>.npy`, with the samples along an added first dimension, and
gets `output0.npy` and so on likewise. The exit status is UNPREDICTABLE where TOSA leaves open what a sample
leads to. Nothing of the harness is imported: the environment need not have it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import tosa_reference_model
from tosa_reference_model import GraphStatus

UNPREDICTABLE = 3


def main(model: Path, folder: Path, inputs: int) -> None:
    """Run every sample through the graph, one after the other."""
    graph = model.read_bytes()
    columns = [np.load(folder / f"input{index}.npy") for index in range(inputs)]
    results: list[list[Any]] = []
    for sample in zip(*columns, strict=True):
        outputs, status = tosa_reference_model.run(graph, list(sample), verbosity="NONE")
        if status == GraphStatus.TOSA_UNPREDICTABLE:
            sys.exit(UNPREDICTABLE)
        if status != GraphStatus.TOSA_VALID:
            sys.exit(f"the graph is {status.name}")
        results.append(outputs)
    for index, values in enumerate(zip(*results, strict=True)):
        np.save(folder / f"output{index}.npy", np.stack(values))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
