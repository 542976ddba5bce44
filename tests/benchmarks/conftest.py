"""MobileNetV2 at full width, 224x224x3 to 1000 classes: 300 million multiplications.

The blocks are those of Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", table 2; the
sums of residuals have a ReLU here, which changes no shape and no operation's cost.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from harness.models.network_builder import LINEAR, Feature, NetworkBuilder
from harness.models.tflite_writer import write_tflite

# Expansion, channels, blocks, stride of the first.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


@pytest.fixture(scope="session")
def mobilenet_v2() -> bytes:
    """Its .tflite file."""
    net = NetworkBuilder("mobilenet_v2", (224, 224, 3), Fraction(1, 256), -128)
    x = net.conv(net.input, 32, (3, 3), stride=2)
    for expansion, channels, blocks, stride in STAGES:
        for block in range(blocks):
            x = _bottleneck(net, x, expansion, channels, 1 if block else stride)
    x = net.conv(x, 1280, (1, 1))
    x = net.flatten(net.average_pool(x))
    return write_tflite(net.finish(net.dense(x, 1000, output=LINEAR)))


def _bottleneck(net: NetworkBuilder, x: Feature, expansion: int, channels: int, stride: int) -> Feature:
    depth = x.samples.shape[-1]
    inner = x if expansion == 1 else net.conv(x, depth * expansion, (1, 1))
    result = net.conv(net.depthwise(inner, (3, 3), stride=stride), channels, (1, 1), output=LINEAR)
    return net.add(x, result) if stride == 1 and channels == depth else result
