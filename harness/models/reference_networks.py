"""The four reference networks: the shapes and layers of MLPerf Tiny, with seeded weights.

Architectures: mlcommons/tiny, benchmark/training. The weights are not trained, so the outputs mean nothing;
they are there to be equal.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from harness.errors import ModelError
from harness.models.network_builder import LINEAR, LOGIT_SCALE, NetworkBuilder
from harness.models.tflite_writer import GraphSpec, write_tflite


def resnet8() -> GraphSpec:
    """Image classification: 32x32x3 to 10 classes, three residual stacks, 77 thousand weights."""
    net = NetworkBuilder("resnet8", (32, 32, 3), Fraction(1), -128)
    x = net.conv(net.input, 16, (3, 3))
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        y = net.conv(x, channels, (3, 3), stride=stride)
        y = net.conv(y, channels, (3, 3), output=LINEAR)
        shortcut = x if stride == 1 else net.conv(x, channels, (1, 1), stride=stride, output=LINEAR)
        x = net.add(shortcut, y)
    x = net.flatten(net.average_pool(x))
    return net.finish_with_softmax(net.dense(x, 10, output=LINEAR, scale=LOGIT_SCALE))


def ds_cnn() -> GraphSpec:
    """Keyword spotting: 49x10x1 to 12 words, depthwise separable layers, 22 thousand weights."""
    net = NetworkBuilder("ds_cnn", (49, 10, 1), Fraction(75, 128), 83)
    x = net.conv(net.input, 64, (10, 4), stride=2)
    for _ in range(4):
        x = net.conv(net.depthwise(x, (3, 3)), 64, (1, 1))
    x = net.flatten(net.average_pool(x))
    return net.finish_with_softmax(net.dense(x, 12, output=LINEAR, scale=LOGIT_SCALE))


def mobilenet_v1_025() -> GraphSpec:
    """Visual wake words: 96x96x3 to 2 classes, MobileNet v1 at quarter width, 208 thousand weights."""
    net = NetworkBuilder("mobilenet_v1_025", (96, 96, 3), Fraction(1, 256), -128)
    x = net.conv(net.input, 8, (3, 3), stride=2)
    blocks = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1))
    for channels, stride in blocks:
        x = net.conv(net.depthwise(x, (3, 3), stride=stride), channels, (1, 1))
    x = net.flatten(net.average_pool(x))
    return net.finish_with_softmax(net.dense(x, 2, output=LINEAR, scale=LOGIT_SCALE))


def deep_autoencoder() -> GraphSpec:
    """Anomaly detection: 640 features through a bottleneck of 8 and back, 264 thousand weights."""
    net = NetworkBuilder("deep_autoencoder", (640,), Fraction(25, 64), 89)
    x = net.input
    for features in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x = net.dense(x, features)
    return net.finish(net.dense(x, 640, output=LINEAR, scale=Fraction(25, 64)))


@dataclass(frozen=True)
class ReferenceNetwork:
    """A network's layers, and the digest of the file they must come out as on every machine."""

    build: Callable[[], GraphSpec]
    sha256: str


NETWORKS: Mapping[str, ReferenceNetwork] = {
    "resnet8": ReferenceNetwork(resnet8, "30e2311d6e936d3e165d6943aca8ddc6d5954972902929ff0d6ebbfef7ccb16b"),
    "ds_cnn": ReferenceNetwork(ds_cnn, "b1211e761c203352db5c485b43bd58fcb7c5db38cb10a6e1783527f3cee7306e"),
    "mobilenet_v1_025": ReferenceNetwork(
        mobilenet_v1_025, "96aa3f9663b6daf8a8274017b22214784c1b9a3dbfc796bf5650d4e8d59e8688"
    ),
    "deep_autoencoder": ReferenceNetwork(
        deep_autoencoder, "c47edc69bdd643ca4bc3221ac11e51beaa816970e713f9f7e36d29f5ae350083"
    ),
}
"""The networks by name."""


@functools.cache
def reference_network(name: str) -> bytes:
    """The .tflite file of a reference network, generated in under a second.

    Raises ModelError when the generated file is not the expected one: a library computes differently here.
    """
    network = NETWORKS[name]
    data = write_tflite(network.build())
    digest = hashlib.sha256(data).hexdigest()
    if digest != network.sha256:
        raise ModelError(
            f"the reference network {name} was not generated as expected: its SHA-256 is {digest}",
            hint="numpy or flatbuffers behaves unlike the versions the package was tested with",
        )
    return data
