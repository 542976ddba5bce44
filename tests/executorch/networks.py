"""Networks to export with ExecuTorch: small, and of the kinds that people run on an Ethos-U."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


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
    """An LSTM over a few steps, unrolled by the exporter."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 12, batch_first=True)
        self.last = nn.Linear(12, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.lstm(x)[0])


class Volume(nn.Module):
    """A convolution in three dimensions: the sums of one depth go on from those of the depth before."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv3d(2, 4, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.layer(x))


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
    "volume": Network(Volume, ((1, 2, 5, 6, 6),), 512),
    "keywords_int16": Network(Keywords, ((1, 1, 49, 10),), 256, wide=True),
    "volume_int16": Network(Volume, ((1, 2, 5, 6, 6),), 2048, wide=True),
    "recurrent_int16": Network(Recurrent, ((1, 2, 8),), 256, wide=True),
}
