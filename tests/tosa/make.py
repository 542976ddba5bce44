"""Writes TOSA graphs of one operator, with what Arm's TOSA reference model computes for them.

    python make.py FOLDER [NAME ...]

It runs in an environment of its own: `pip install tosa-tools`. FOLDER gets corpus.npz, whose arrays are
NAME/graph (the bytes of a .tosa file), NAME/input0, ... (the samples along the first dimension) and
NAME/output0, ...; and made_with.json, the versions. A NAME is OPERATOR.TYPE.VARIANT; without any, all are
written.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import cases_elementwise
import cases_kernels
import cases_layout
import cases_reductions
import cases_scaling
import numpy as np
import tosa_reference_model
from graph import ARRAYS, BITS, BOOL, Graph, Input, Tensor

SAMPLES = 6
PACKAGES = ("tosa-tools", "numpy")

CASES: dict[str, Callable[[Graph], Tensor]] = {
    **cases_kernels.CASES,
    **cases_elementwise.CASES,
    **cases_reductions.CASES,
    **cases_layout.CASES,
    **cases_scaling.CASES,
}
"""By name: what adds the operators to a graph and returns its output, or a tuple of its outputs."""


def arrays(name: str) -> dict[str, np.ndarray]:
    """The graph of a case, its inputs and the outputs of the reference model."""
    graph = Graph(zlib.crc32(name.encode()))
    results = CASES[name](graph)
    data = graph.finish(*(results if isinstance(results, tuple) else (results,)))
    inputs = [samples(name, index, each) for index, each in enumerate(graph.inputs)]
    outputs = [_computed(name, data, list(sample)) for sample in zip(*inputs, strict=True)]
    return {
        f"{name}/graph": np.frombuffer(data, np.uint8),
        **{f"{name}/input{index}": each for index, each in enumerate(inputs)},
        **{f"{name}/output{index}": np.stack(each) for index, each in enumerate(zip(*outputs, strict=True))},
    }


def samples(name: str, index: int, described: Input) -> np.ndarray:
    """The lowest numbers, the highest, a mixture of the two, and random ones.

    Of wide numbers the last two samples are of all magnitudes; of even ones hardly any would be small.
    """
    random = np.random.default_rng([zlib.crc32(name.encode()), index])
    low, high = described.low, described.high
    values = random.integers(low, high, (SAMPLES, *described.shape), endpoint=True)
    values[0], values[1] = low, high
    values[2] = random.choice([low, high], described.shape)
    if BITS[described.dtype] >= 16:
        magnitudes = random.uniform(0, BITS[described.dtype] - 1, (2, *described.shape))
        signs = random.choice([-1, 1], magnitudes.shape)
        values[-2:] = np.clip((signs * 2.0**magnitudes).astype(np.int64), low, high)
    return values.astype(ARRAYS[described.dtype]) if described.dtype != BOOL else values > 0


def _computed(name: str, graph: bytes, sample: list[np.ndarray]) -> list[np.ndarray]:
    results, status = tosa_reference_model.run(graph, sample, verbosity="NONE")
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        raise ValueError(f"{name}: the TOSA reference model says {status.name}")
    return results


def main(folder: Path, names: Sequence[str]) -> None:
    """Write all, or those named, and note with what they were made."""
    corpus: dict[str, np.ndarray] = {}
    for name in names or CASES:
        corpus |= arrays(name)
    np.savez_compressed(folder / "corpus.npz", **corpus)
    made_with = {package: version(package) for package in PACKAGES}
    (folder / "made_with.json").write_text(json.dumps(made_with, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
