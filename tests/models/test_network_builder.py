"""A layer's calibration runs the same network as the file it is written to."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from harness.models.network_builder import LINEAR, Feature, NetworkBuilder
from harness.models.oracle import installed_version, tflite_micro_outputs
from harness.models.tflite_writer import write_tflite

pytestmark = [
    pytest.mark.skipif(installed_version() is None, reason="tflite-micro is not installed"),
    pytest.mark.usefixtures("private_cache"),
]

Layer = Callable[[NetworkBuilder], Feature]

LAYERS: dict[str, Layer] = {
    "convolution": lambda net: net.conv(net.input, 5, (3, 3)),
    "strided convolution": lambda net: net.conv(net.input, 5, (4, 2), stride=2),
    "linear convolution": lambda net: net.conv(net.input, 5, (1, 1), output=LINEAR),
    "depthwise convolution": lambda net: net.depthwise(net.input, (3, 3)),
    "strided depthwise convolution": lambda net: net.depthwise(net.input, (3, 3), stride=2),
    "dense": lambda net: net.dense(net.flatten(net.input), 6),
    "average pool": lambda net: net.average_pool(net.input),
    "addition": lambda net: net.add(net.input, net.conv(net.input, 3, (3, 3), output=LINEAR)),
}


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_calibration_computes_what_the_file_does(layer: Layer) -> None:
    net = NetworkBuilder("one layer", (6, 5, 3), Fraction(3, 64), zero_point=-7)
    feature = layer(net)
    data = write_tflite(net.finish(feature))
    samples = [[sample.astype(np.int8).tobytes()] for sample in net.input.samples]
    outputs = tflite_micro_outputs("one layer", data, samples)
    computed = np.array([np.frombuffer(output, np.int8) for (output,) in outputs], dtype=np.int64)
    calibrated = feature.samples.reshape(computed.shape)
    # Calibration rounds once where TensorFlow Lite rounds its multiplier, then twice.
    assert np.abs(computed - calibrated).max() <= 1
    assert len(np.unique(computed)) > 10


def test_an_output_uses_most_of_int8() -> None:
    net = NetworkBuilder("range", (6, 5, 3), Fraction(1), zero_point=0)
    samples = net.conv(net.input, 16, (3, 3), output=LINEAR).samples
    assert samples.max() - samples.min() > 200
    assert np.mean(np.abs(samples) >= 127) < 0.05


def test_a_seed_is_in_the_name() -> None:
    first, second = (
        write_tflite(net.finish(net.dense(net.flatten(net.input), 4)))
        for net in (NetworkBuilder(name, (2, 2, 2), Fraction(1), 0) for name in ("one", "two"))
    )
    assert first != second
