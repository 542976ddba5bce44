"""Building a quantised network layer by layer, calibrated as it grows.

Weights come from a seeded byte stream. Every layer is run on a few seeded inputs; its bias then centres each
channel and its scales let the channel use the whole int8 range, much as batch normalisation and a converter's
calibration would in a trained network.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt
import tflite

from harness.models.calibration import Integers, centre, deviation, requantise, slide, with_mantissa
from harness.models.seeded import seeded_bytes
from harness.models.tflite_writer import GraphSpec, OperatorSpec, TensorSpec

CALIBRATION_INPUTS = 8
ACTIVATION_SCALE = Fraction(3, 128)  #: as in trained networks, and no power of two
LOGIT_SCALE = Fraction(5, 128)  #: lets a softmax spread over several classes
SOFTMAX_SCALE, SOFTMAX_ZERO_POINT = Fraction(1, 256), -128  #: what TensorFlow Lite demands for int8

# Mantissas so short that the product of an activation's and a weight's scale, the bias's, fits float32.
_WEIGHT_SCALE_BITS, _ADD_SCALE_BITS = 12, 6
_ADD_UNIT = Fraction(1, 1 << 20)  #: every activation scale is a multiple of it

Options = dict[str, int | float | bool]

_NO_DILATION: Options = {"DilationWFactor": 1, "DilationHFactor": 1}


@dataclass(frozen=True)
class Range:
    """How a layer's output uses int8: where zero lies, and the steps one mean absolute deviation takes.

    A normal distribution then reaches the ends of the range at about 3 standard deviations.
    """

    activation: int
    zero_point: int
    steps: int


RELU = Range(tflite.ActivationFunctionType.RELU, zero_point=-128, steps=64)
LINEAR = Range(tflite.ActivationFunctionType.NONE, zero_point=5, steps=32)


@dataclass(frozen=True)
class Feature:
    """A feature map while the network is built: its tensor, its quantisation, its values for each sample."""

    tensor: int
    scale: Fraction
    zero_point: int
    samples: Integers  #: sample x height x width x channel, or sample x feature

    @property
    def centred(self) -> Integers:
        """The samples less their zero point."""
        return self.samples - self.zero_point


class NetworkBuilder:
    """Grows a network: start from `input`, apply layers, end with `finish`."""

    def __init__(self, name: str, shape: tuple[int, ...], scale: Fraction, zero_point: int) -> None:
        """`shape` is the input's, without the batch."""
        self._name = name
        self._tensors: list[TensorSpec] = []
        self._operators: list[OperatorSpec] = []
        samples = _seeded_int8(f"{name}/calibration", (CALIBRATION_INPUTS, *shape))
        self.input = self._feature("input", samples.astype(np.int64), scale, zero_point)

    def conv(
        self, x: Feature, channels: int, kernel: tuple[int, int], *, stride: int = 1, output: Range = RELU
    ) -> Feature:
        """A convolution with SAME padding and one weight scale per channel."""
        weights = self._weights((channels, *kernel, x.samples.shape[-1]))
        taps = weights.transpose(1, 2, 3, 0).astype(np.float64)
        accumulators = slide(
            x.centred, kernel, stride, lambda window, row, column: window @ taps[row, column]
        )
        options = _window(stride, output) | _NO_DILATION
        return self._weighted("CONV_2D", x, weights, accumulators, output, options, axis=0)

    def depthwise(self, x: Feature, kernel: tuple[int, int], *, stride: int = 1) -> Feature:
        """A depthwise convolution with SAME padding, ReLU and one weight scale per channel."""
        weights = self._weights((1, *kernel, x.samples.shape[-1]))
        taps = weights[0].astype(np.float64)
        accumulators = slide(
            x.centred, kernel, stride, lambda window, row, column: window * taps[row, column]
        )
        options = _window(stride, RELU) | _NO_DILATION | {"DepthMultiplier": 1}
        return self._weighted("DEPTHWISE_CONV_2D", x, weights, accumulators, RELU, options, axis=3)

    def dense(
        self, x: Feature, features: int, *, output: Range = RELU, scale: Fraction = ACTIVATION_SCALE
    ) -> Feature:
        """A fully connected layer with one weight scale; `scale` is its output's."""
        weights = self._weights((features, x.samples.shape[-1]))
        accumulators = (x.centred.astype(np.float64) @ weights.T.astype(np.float64)).astype(np.int64)
        options: Options = {"FusedActivationFunction": output.activation}
        return self._weighted("FULLY_CONNECTED", x, weights, accumulators, output, options, scale=scale)

    def add(self, x: Feature, y: Feature) -> Feature:
        """The sum of two feature maps, with ReLU."""
        units = [int(feature.scale / _ADD_UNIT) for feature in (x, y)]
        total = x.centred * units[0] + y.centred * units[1]
        spread = int(deviation(total).sum()) // total.shape[-1]
        scale = with_mantissa(spread * _ADD_UNIT / RELU.steps, _ADD_SCALE_BITS)
        samples = requantise(total, [_ADD_UNIT / scale], RELU.zero_point)
        options: Options = {"FusedActivationFunction": RELU.activation}
        return self._apply("ADD", (x.tensor, y.tensor), samples, scale, RELU.zero_point, options)

    def average_pool(self, x: Feature) -> Feature:
        """The mean over height and width, in the quantisation of `x`."""
        height, width = x.samples.shape[1:3]
        count = height * width
        samples = (x.samples.sum(axis=(1, 2), keepdims=True) + count // 2) // count
        options: Options = {
            "Padding": tflite.Padding.VALID,
            "StrideH": height,
            "StrideW": width,
            "FilterHeight": height,
            "FilterWidth": width,
            "FusedActivationFunction": tflite.ActivationFunctionType.NONE,
        }
        return self._apply("AVERAGE_POOL_2D", (x.tensor,), samples, x.scale, x.zero_point, options)

    def flatten(self, x: Feature) -> Feature:
        """All values of a sample in one dimension."""
        samples = x.samples.reshape(CALIBRATION_INPUTS, -1)
        shape = np.array([1, samples.shape[1]], dtype="<i4")
        constant = self._tensor(TensorSpec(self._label("shape"), (2,), "int32", data=shape.tobytes()))
        return self._apply("RESHAPE", (x.tensor, constant), samples, x.scale, x.zero_point, {})

    def finish_with_softmax(self, x: Feature) -> GraphSpec:
        """The network, with a softmax over the last dimension of `x` at its end."""
        spec = TensorSpec("softmax", (1, x.samples.shape[1]), "int8", (SOFTMAX_SCALE,), SOFTMAX_ZERO_POINT)
        output = self._tensor(spec)
        self._operators.append(OperatorSpec("SOFTMAX", (x.tensor,), (output,), {"Beta": 1.0}))
        return self._graph(output)

    def finish(self, x: Feature) -> GraphSpec:
        """The network, with `x` as its output."""
        return self._graph(x.tensor)

    def _graph(self, output: int) -> GraphSpec:
        return GraphSpec(
            self._name, tuple(self._tensors), tuple(self._operators), (self.input.tensor,), (output,)
        )

    def _weighted(
        self,
        kind: str,
        x: Feature,
        weights: npt.NDArray[np.int8],
        accumulators: Integers,
        output: Range,
        options: Options,
        *,
        axis: int | None = None,
        scale: Fraction = ACTIVATION_SCALE,
    ) -> Feature:
        """A layer with weights and bias; `axis` is the weights' channel dimension, None for one scale."""
        bias = -centre(accumulators)
        spreads = deviation(accumulators + bias)
        if axis is None:
            spreads = np.array([spreads.sum() // len(spreads)])
        scales = tuple(
            with_mantissa(output.steps * scale / (int(spread) * x.scale), _WEIGHT_SCALE_BITS)
            for spread in spreads
        )
        samples = requantise(
            accumulators + bias,
            [x.scale * weight_scale / scale for weight_scale in scales],
            output.zero_point,
        )
        weight_spec = TensorSpec(
            self._label("weights"), weights.shape, "int8", scales, axis=axis or 0, data=weights.tobytes()
        )
        bias_spec = TensorSpec(
            self._label("bias"),
            bias.shape,
            "int32",
            tuple(x.scale * weight_scale for weight_scale in scales),
            data=bias.astype("<i4").tobytes(),
        )
        inputs = (x.tensor, self._tensor(weight_spec), self._tensor(bias_spec))
        return self._apply(kind, inputs, samples, scale, output.zero_point, options)

    def _apply(
        self,
        kind: str,
        inputs: tuple[int, ...],
        samples: Integers,
        scale: Fraction,
        zero_point: int,
        options: Options,
    ) -> Feature:
        feature = self._feature(self._label(kind.lower()), samples, scale, zero_point)
        self._operators.append(OperatorSpec(kind, inputs, (feature.tensor,), options))
        return feature

    def _feature(self, name: str, samples: Integers, scale: Fraction, zero_point: int) -> Feature:
        spec = TensorSpec(name, (1, *samples.shape[1:]), "int8", (scale,), zero_point)
        return Feature(self._tensor(spec), scale, zero_point, samples)

    def _weights(self, shape: tuple[int, ...]) -> npt.NDArray[np.int8]:
        """Products of two even values: most lie near 0, as in trained networks, and some are 0."""
        pairs = _seeded_int8(f"{self._name}/{self._label('weights')}", (2, *shape))
        products = (pairs[0].astype(np.int16) * pairs[1] + 64) >> 7
        weights: npt.NDArray[np.int8] = np.clip(products, -127, 127).astype(np.int8)
        return weights

    def _tensor(self, spec: TensorSpec) -> int:
        self._tensors.append(spec)
        return len(self._tensors) - 1

    def _label(self, part: str) -> str:
        return f"layer{len(self._operators)}/{part}"


def _seeded_int8(seed: str, shape: tuple[int, ...]) -> npt.NDArray[np.int8]:
    return np.frombuffer(seeded_bytes(seed, prod(shape)), dtype=np.int8).reshape(shape)


def _window(stride: int, output: Range) -> Options:
    return {
        "Padding": tflite.Padding.SAME,
        "StrideW": stride,
        "StrideH": stride,
        "FusedActivationFunction": output.activation,
    }
