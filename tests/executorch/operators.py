"""Operators to export with ExecuTorch, alone or with the few neighbours that the compiler fuses them with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from networks import Network
from torch import Tensor, nn
from torch.nn import functional

MACS = (128, 256, 512, 1024, 2048)


class Operator(nn.Module):
    """A function of the inputs and of modules with weights."""

    def __init__(self, compute: Callable[..., Any], modules: Sequence[nn.Module]) -> None:
        super().__init__()
        self.compute, self.parts = compute, nn.ModuleList(modules)

    def forward(self, *inputs: Tensor) -> Any:
        return self.compute(*inputs, *self.parts)


_FLAT, _ROW, _MAP = (1, 6, 10), (1, 1, 10), (1, 5, 6, 10)

_COMPUTED: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "adaptive_average": (lambda x: functional.adaptive_avg_pool2d(x, (3, 3)), ((1, 7, 12, 12),)),
    "average": (lambda x: functional.avg_pool2d(x, 2), ((1, 8, 8, 8),)),
    "average_padded": (lambda x: functional.avg_pool2d(x, 3, 2, 1), ((1, 7, 13, 13),)),
    "average_unpadded": (
        lambda x: functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        ((1, 7, 13, 13),),
    ),
    "bilinear": (
        lambda x: functional.interpolate(x, size=(15, 9), mode="bilinear", align_corners=True),
        ((1, 4, 8, 5),),
    ),
    "choice": (lambda x, y: torch.where((x >= y) & (x < 0.5), x, y * 2), (_FLAT, _FLAT)),
    "clamp": (lambda x: torch.clamp(x, -0.5, 0.7), (_FLAT,)),
    "cosine": (lambda x: torch.cos(x) + torch.sin(x), (_FLAT,)),
    "difference": (lambda x, y: x - y, (_FLAT, _ROW)),
    "extremes": (lambda x, y: torch.minimum(x, y) + x.abs(), (_FLAT, _FLAT)),
    "flip": (lambda x: torch.flip(x, (2,)), (_MAP,)),
    "floor": (lambda x: torch.floor(x * 3), (_FLAT,)),
    "gate": (lambda x: functional.glu(x, 1), (_FLAT,)),
    "gelu": (lambda x: torch.sigmoid(x) + torch.tanh(x) + functional.gelu(x), (_FLAT,)),
    "highest": (lambda x: x.amax(dim=2), (_MAP,)),
    "log_softmax": (lambda x: functional.log_softmax(x, -1), (_FLAT,)),
    "logarithm": (lambda x: torch.log(x.abs() + 0.5), (_FLAT,)),
    "lowest": (lambda x: x.amin(dim=1), (_MAP,)),
    "masked": (lambda x: x.masked_fill(x > 0.5, 0.0), (_FLAT,)),
    "maximum": (lambda x: functional.max_pool2d(x, 3, 2, 1), ((1, 7, 13, 13),)),
    "mean": (lambda x: x.mean(dim=(1, 2)), (_MAP,)),
    "nearest": (lambda x: functional.interpolate(x, scale_factor=3, mode="nearest"), ((1, 4, 4, 5),)),
    "negation": (lambda x: -x, (_FLAT,)),
    "permutation": (lambda x: x.permute(0, 3, 1, 2).contiguous() + 1, (_MAP,)),
    "pixel_shuffle": (lambda x: functional.pixel_shuffle(x, 2), ((1, 8, 5, 5),)),
    "product": (lambda x, y: x * y, ((1, 6, 10, 3), (1, 6, 1, 1))),
    "quotient": (lambda x, y: x / (y.abs() + 1), (_FLAT, _FLAT)),
    "reflection": (lambda x: functional.pad(x, (1, 2, 3, 1), mode="reflect"), (_MAP,)),
    "repetition": (lambda x: x.repeat(1, 2, 3, 1), (_MAP,)),
    "root": (lambda x: torch.sqrt(x.abs() + 0.5) + torch.rsqrt(x.abs() + 0.5), (_FLAT,)),
    "running_sum": (lambda x: torch.cumsum(x, 1), (_FLAT,)),
    "sign": (torch.sign, (_FLAT,)),
    "stack": (lambda x, y: torch.stack([x, y], 1), (_FLAT, _FLAT)),
    "sum": (lambda x: x.sum(dim=1), (_MAP,)),
    "tensor_product": (torch.matmul, ((1, 4, 6, 8), (1, 4, 8, 5))),
}

_WEIGHTED: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "batch": (lambda: nn.Conv2d(3, 5, 3), (2, 3, 8, 8)),
    "convolution": (lambda: nn.Conv2d(8, 12, 3, padding=1), (1, 8, 9, 9)),
    "convolution_1d": (lambda: nn.Conv1d(8, 12, 3, padding=1), (1, 8, 20)),
    "convolution_3d": (lambda: nn.Conv3d(2, 40, 3, padding=1), (1, 2, 5, 6, 6)),
    "depth_multiplier": (lambda: nn.Conv2d(4, 12, 3, padding=1, groups=4), (1, 4, 9, 9)),
    "encoder": (lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (1, 10, 16)),
    "group_norm": (lambda: nn.GroupNorm(2, 8), (1, 8, 6, 6)),
    "groups": (lambda: nn.Conv2d(8, 12, 3, padding=1, groups=4), (1, 8, 9, 9)),
    "layer_norm": (lambda: nn.LayerNorm(16), (1, 6, 16)),
    "linear": (lambda: nn.Linear(300, 70), (1, 300)),
    "parametric_relu": (lambda: nn.PReLU(6), (1, 6, 4, 4)),
    "strided": (lambda: nn.Conv2d(3, 16, 8, stride=8), (1, 3, 32, 32)),
    "transposed": (lambda: nn.ConvTranspose2d(6, 5, 3, stride=2, padding=1, output_padding=1), (1, 6, 7, 7)),
    "transposed_even": (lambda: nn.ConvTranspose2d(6, 5, 2, stride=2), (1, 6, 7, 7)),
}

_WIDE = (
    "average", "convolution", "convolution_3d", "difference", "extremes", "gelu", "layer_norm", "maximum",
    "mean", "product", "transposed_even",
)  # fmt: skip
"""What is exported with int16 activations too."""


def _network(compute: Callable[..., Any], shapes: tuple[tuple[int, ...], ...], macs: int) -> Network:
    return Network(lambda: Operator(compute, ()), shapes, macs)


def _operators() -> dict[str, Network]:
    named = {name: Network(build, (shape,), 0) for name, (build, shape) in _WEIGHTED.items()}
    named |= {name: _network(*each, 0) for name, each in _COMPUTED.items()}
    named |= {f"{name}_int16": Network(named[name].build, named[name].shapes, 0, wide=True) for name in _WIDE}
    return {
        name: Network(each.build, each.shapes, MACS[index % len(MACS)], each.wide)
        for index, (name, each) in enumerate(sorted(named.items()))
    }


OPERATORS = _operators()
