"""Runs one network in tflite-micro: a program of its own, since a crash in there must not end the harness.

    python oracle_worker.py MODEL.tflite ARENA_BYTES FOLDER INPUTS OUTPUTS RESETS

FOLDER holds `input0.npy` to `input<INPUTS - 1>.npy`, with the samples along an added first dimension, and
gets `output0.npy` to `output<OUTPUTS - 1>.npy` likewise. Variables are reset before the first RESETS samples.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from tflite_micro import runtime


def main(model: Path, arena_size: int, folder: Path, inputs: int, outputs: int, resets: int) -> None:
    """Runs every sample through the network, one after the other."""
    interpreter = runtime.Interpreter.from_bytes(model.read_bytes(), arena_size=arena_size)
    columns = [np.load(folder / f"input{index}.npy") for index in range(inputs)]
    results = []
    for number, sample in enumerate(zip(*columns, strict=True)):
        if number < resets:
            interpreter.reset()
        for index, values in enumerate(sample):
            interpreter.set_input(values, index)
        interpreter.invoke()
        results.append([np.array(interpreter.get_output(index)) for index in range(outputs)])
    for index, values in enumerate(zip(*results, strict=True)):
        np.save(folder / f"output{index}.npy", np.stack(values))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), *map(int, sys.argv[4:]))
