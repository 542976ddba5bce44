"""Exports networks with ExecuTorch for the Ethos-U85, with what Arm's TOSA reference model computes for them.

    python export.py FOLDER [NAME ...]

It runs in an environment of its own: `pip install 'executorch[ethos-u]' torch`. For each network it writes
NAME.pte, and NAME.npz with input sets (`input0`, `input1`, the samples along the first dimension) and the
outputs of the TOSA graph that Vela was given (`output0`, ...). Each is exported for another MAC count.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from torch import Tensor, nn
from torch.nn import functional
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

SEED = 85
SAMPLES = 6  # the first two are the ends of the range
CALIBRATIONS = 16
PACKAGES = ("executorch", "torch", "torchao", "tosa-tools", "ethos-u-vela")


class Keywords(nn.Module):
    """Separable convolutions and a global average, as networks for keywords have them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, (10, 4), stride=2, padding=(5, 1)),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1, groups=16),
            nn.ReLU6(),
            nn.Conv2d(16, 24, 1),
            nn.Hardswish(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(24, 12),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Residual(nn.Module):
    """A sum of two paths, pooled in both ways, with a softmax at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3, padding=1, dilation=1)
        self.third = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.last = nn.Linear(8 * 4 * 4, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.relu(self.first(x))
        x = functional.relu(x + self.third(functional.relu(self.second(x))))
        x = functional.avg_pool2d(functional.max_pool2d(x, 2), 2)
        return torch.softmax(self.last(x.flatten(1)), dim=1)


class Attention(nn.Module):
    """One head: matrix products of two activations, softmax, normalisation, GELU."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(16, 16) for _ in range(3))
        self.norm = nn.LayerNorm(16)
        self.wide, self.narrow = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x: Tensor) -> Tensor:
        scores = torch.bmm(self.query(x), self.key(x).transpose(1, 2)) / 4.0
        x = self.norm(x + torch.bmm(torch.softmax(scores, dim=-1), self.value(x)))
        return x + self.narrow(functional.gelu(self.wide(x)))


class Segments(nn.Module):
    """Down and up again: a transposed convolution, both ways to enlarge, and joined channels."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(2, 8, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Conv2d(20, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        low = functional.relu(self.down(x))
        smooth = functional.interpolate(low, scale_factor=2, mode="bilinear", align_corners=False)
        coarse = functional.interpolate(low, scale_factor=2, mode="nearest")
        return self.last(torch.cat([self.up(low), smooth, coarse], dim=1))


class Arithmetic(nn.Module):
    """Two inputs and two outputs: broadcast sums, products and differences, extremes, slices, sums."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        product = x * y - x
        extremes = torch.maximum(x, y) + torch.minimum(product, y)
        return torch.abs(extremes[:, 1:5]), product.sum(dim=2, keepdim=True) + torch.rsub(y, 1.0)


class Activations(nn.Module):
    """The functions that become tables."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat(
            [
                torch.sigmoid(x),
                torch.tanh(x),
                functional.silu(x),
                functional.elu(x),
                functional.hardsigmoid(x),
                torch.exp(-x.abs()),
            ],
            dim=1,
        )


class Recurrent(nn.Module):
    """An LSTM over four steps, unrolled by the exporter."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 12, batch_first=True)
        self.last = nn.Linear(12, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.lstm(x)[0])


@dataclass(frozen=True)
class Network:
    """What is exported under one name."""

    build: Callable[[], nn.Module]
    shapes: tuple[tuple[int, ...], ...]
    macs: int
    wide: bool = False  #: int16 activations with int8 weights
    outputs: int = 1


NETWORKS = {
    "keywords": Network(Keywords, ((1, 1, 49, 10),), 128),
    "residual": Network(Residual, ((1, 3, 16, 16),), 256),
    "attention": Network(Attention, ((1, 12, 16),), 512),
    "segments": Network(Segments, ((1, 2, 12, 12),), 1024),
    "arithmetic": Network(Arithmetic, ((1, 6, 5, 4), (1, 6, 1, 4)), 2048, outputs=2),
    "activations": Network(Activations, ((1, 5, 7, 3),), 256),
    "recurrent": Network(Recurrent, ((1, 4, 8),), 256),
    "keywords_int16": Network(Keywords, ((1, 1, 49, 10),), 256, wide=True),
}


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
    """Export all networks, or those named, and note with what they were made."""
    for name in names or NETWORKS:
        arrays = export(NETWORKS[name], folder / f"{name}.pte")
        np.savez_compressed(folder / f"{name}.npz", **arrays)
        sys.stdout.write(f"{name}: {(folder / name).with_suffix('.pte').stat().st_size} bytes\n")
        sys.stdout.flush()
    made_with = {package: version(package) for package in PACKAGES}
    (folder / "made_with.json").write_text(json.dumps(made_with, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
