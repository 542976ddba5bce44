"""Exports networks with ExecuTorch for the Ethos-U85, with what Arm's TOSA reference model computes for them.

    python export.py FOLDER [NAME ...]

It runs in an environment of its own: `pip install torch executorch tosa-tools ethos-u-vela`. For each
network it writes NAME.pte, and NAME.npz with input sets (`input0`, `input1`, the samples along the first
dimension) and the outputs of the TOSA graph that Vela was given (`output0`, ...).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
import tosa_reference_model
from executorch.backends.arm import (
    EthosUCompileSpec,
    EthosUPartitioner,
    EthosUQuantizer,
    get_symmetric_a16w8_quantization_config,
    get_symmetric_quantization_config,
)
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes.quantize_io_pass import QuantizeInputs, QuantizeOutputs
from networks import NETWORKS, Network
from operators import OPERATORS
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

SEED = 85
SAMPLES = 6  # the first two are the ends of the range
CALIBRATIONS = 16
PACKAGES = ("executorch", "torch", "torchao", "tosa-tools", "ethos-u-vela")


def export(network: Network, pte: Path) -> dict[str, np.ndarray]:
    """Write the program; return its input sets and what the TOSA reference model makes of them."""
    with tempfile.TemporaryDirectory() as folder:
        spec = EthosUCompileSpec(f"ethos-u85-{network.macs}")
        spec.dump_intermediate_artifacts_to(folder)
        pte.write_bytes(_program(network, spec))
        (graph,) = Path(folder).glob("output_tag*.tosa")
        return _reference(graph.read_bytes(), network)


def _program(network: Network, spec: EthosUCompileSpec) -> bytes:
    torch.manual_seed(SEED)
    examples = [tuple(torch.randn(shape) for shape in network.shapes) for _ in range(CALIBRATIONS)]
    module = torch.export.export(network.build().eval(), examples[0]).module(check_guards=False)
    quantizer = EthosUQuantizer(spec)
    wide, narrow = get_symmetric_a16w8_quantization_config, get_symmetric_quantization_config
    quantizer.set_global(wide() if network.wide else narrow())
    prepared = prepare_pt2e(module, quantizer)
    for example in examples:
        prepared(*example)
    edge = to_edge_transform_and_lower(
        torch.export.export(convert_pt2e(prepared), examples[0]),
        partitioner=[EthosUPartitioner(spec)],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    # Without these, the program quantises its inputs and dequantises its outputs on the CPU.
    edge = edge.transform(
        [QuantizeInputs(edge, range(len(network.shapes))), QuantizeOutputs(edge, range(network.outputs))]
    )
    return edge.to_executorch(ExecutorchBackendConfig(extract_delegate_segments=False)).buffer


def _reference(graph: bytes, network: Network) -> dict[str, np.ndarray]:
    dtype = np.dtype(np.int16 if network.wide else np.int8)
    inputs = [_samples(shape, dtype, index) for index, shape in enumerate(network.shapes)]
    outputs = []
    for sample in zip(*inputs, strict=True):
        arrays, status = tosa_reference_model.run(
            graph, list(sample), verbosity="NONE", initialize_variable_tensor_from_numpy=True
        )
        if status != tosa_reference_model.GraphStatus.TOSA_VALID:
            raise ValueError(f"the TOSA reference model says {status} of the graph")
        outputs.append(arrays)
    columns = [np.stack(column) for column in zip(*outputs, strict=True)]
    return {
        **{f"input{index}": column for index, column in enumerate(inputs)},
        **{f"output{index}": column for index, column in enumerate(columns)},
    }


def _samples(shape: Sequence[int], dtype: np.dtype, index: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    random = np.random.default_rng([SEED, index])
    samples = random.integers(limits.min, limits.max, (SAMPLES, *shape), dtype=dtype, endpoint=True)
    samples[0], samples[1] = limits.min, limits.max
    return samples


def main(folder: Path, names: Sequence[str]) -> None:
    """Export all, or those named, and note with what they were made."""
    known = NETWORKS | OPERATORS
    for name in names or known:
        arrays = export(known[name], folder / f"{name}.pte")
        np.savez_compressed(folder / f"{name}.npz", **arrays)
        sys.stdout.write(f"{name}: {(folder / name).with_suffix('.pte').stat().st_size} bytes\n")
        sys.stdout.flush()
    made_with = {package: version(package) for package in PACKAGES}
    (folder / "made_with.json").write_text(json.dumps(made_with, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
