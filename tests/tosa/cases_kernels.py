"""Convolutions, products of matrices, poolings and ARGMAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod, sqrt

from graph import BITS, DOUBLE, INT8, INT16, INT32, INT48, PROPAGATE, SINGLE, Graph, Scale, Tensor, scale
from tosa.Op import Op

ACCUMULATOR = {INT8: INT32, INT16: INT48}
SCALE_BITS = {INT8: 32, INT16: 16}  #: of the multipliers that accumulators are scaled with
SPREAD = {INT8: 60, INT16: 15000, INT32: 1 << 28}  #: of results, so that a few are clipped
UNIFORM = 0.29  #: standard deviation of uniform numbers, by the width of their range


def factor(dtype: int, to: int, terms: int) -> float:
    """Brings sums of `terms` random products of an input and a weight of 8 bits into the range of `to`."""
    return SPREAD[to] / (UNIFORM**2 * (1 << (BITS[dtype] + 8)) * sqrt(terms))


def channel_scales(first: float, channels: int, bits: int) -> list[Scale]:
    """One scale for each channel, all different."""
    return [scale(first * (1 + index / channels), bits) for index in range(channels)]


@dataclass(frozen=True)
class Convolution:
    """A convolution with random weights and biases, and the RESCALE of its accumulators.

    The shapes are those of TOSA: input NHWC or NDHWC, weights OHWI, ODHWI, or HWCM for DEPTHWISE_CONV2D.
    `pad` has two numbers for each dimension.
    """

    input: tuple[int, ...]
    weights: tuple[int, ...]
    pad: tuple[int, ...]
    kind: int = Op.CONV2D
    stride: tuple[int, ...] = ()
    dilation: tuple[int, ...] = ()
    dtype: int = INT8
    to: int | None = None
    zeros: tuple[int, int, int] = (3, 0, -4)  #: of input, weights and output; of 8-bit tensors only
    per_channel: bool = True
    mode: int = SINGLE
    raw: bool = field(default=False, kw_only=True)  #: the accumulators are the output
    constant: bool = field(default=True, kw_only=True)  #: the weights are; else they are an input

    def __call__(self, graph: Graph) -> Tensor:
        dimensions = len(self.input) - 2
        stride, dilation = self.stride or (1,) * dimensions, self.dilation or (1,) * dimensions
        source, weight, target = self.zeros if self.dtype == INT8 else (0, 0, 0)
        value = graph.input(self.input, self.dtype)
        accumulator = ACCUMULATOR[self.dtype]
        channels = self._channels
        operands = [
            value,
            graph.numbers(self.weights, INT8, -127, 127)
            if self.constant
            else graph.input(self.weights, INT8, -127, 127),
            graph.numbers((channels,), accumulator, -2000, 2000),
            graph.constant([source], self.dtype),
            graph.constant([weight], INT8),
        ]
        shape = (self.input[0], *self._sizes(stride, dilation), channels)
        steps = (stride,) if self.kind == Op.TRANSPOSE_CONV2D else (stride, dilation)
        attributes = [list(self.pad), *(list(each) for each in steps), False, accumulator]
        result = graph.operator(self.kind, operands, shape, accumulator, *attributes)
        if self.raw:
            return result
        to = self.to or self.dtype
        return graph.rescale(result, to, self._scales(to), (0, target if to == INT8 else 0), mode=self.mode)

    @property
    def _channels(self) -> int:
        if self.kind == Op.DEPTHWISE_CONV2D:
            return self.weights[2] * self.weights[3]
        return self.weights[0]

    @property
    def _kernel(self) -> tuple[int, ...]:
        return self.weights[:2] if self.kind == Op.DEPTHWISE_CONV2D else self.weights[1:-1]

    def _sizes(self, stride: tuple[int, ...], dilation: tuple[int, ...]) -> list[int]:
        """Of the output, as the specification has them: its divisions leave no remainder."""
        pads = [sum(self.pad[2 * index : 2 * index + 2]) for index in range(len(self._kernel))]
        sizes = zip(self.input[1:-1], pads, self._kernel, stride, dilation, strict=True)
        if self.kind == Op.TRANSPOSE_CONV2D:
            return [(size - 1) * step + pad + taps for size, pad, taps, step, _ in sizes]
        return [(size - 1 + pad - (taps - 1) * apart) // step + 1 for size, pad, taps, step, apart in sizes]

    def _scales(self, to: int) -> Scale | list[Scale]:
        bits = SCALE_BITS[self.dtype]
        first = factor(self.dtype, to, prod(self.weights) // self._channels)
        return channel_scales(first, self._channels, bits) if self.per_channel else scale(first, bits)


def matrix_product(
    graph: Graph,
    dtype: int,
    left: tuple[int, int, int],
    columns: int,
    zeros: tuple[int, int] = (0, 0),
    *,
    raw: bool = False,
    constant: bool = False,
    per_channel: bool = False,
) -> Tensor:
    """MATMUL of two inputs, or of an input and a constant, and the RESCALE of its accumulators."""
    batch, rows, terms = left
    right = (batch, terms, columns)
    limit = (1 << (BITS[dtype] - 1)) - 1
    operands = [
        graph.input(left, dtype),
        graph.numbers(right, dtype, -limit, limit) if constant else graph.input(right, dtype),
        graph.constant([zeros[0]], dtype),
        graph.constant([zeros[1]], dtype),
    ]
    result = graph.operator(Op.MATMUL, operands, (batch, rows, columns), ACCUMULATOR[dtype])
    if raw:
        return result
    first = factor(dtype, dtype, terms) / (1 << (BITS[dtype] - 8))
    bits = SCALE_BITS[dtype]
    scales = channel_scales(first, columns, bits) if per_channel else scale(first, bits)
    return graph.rescale(result, dtype, scales)


def pooling(
    graph: Graph,
    kind: int,
    dtype: int,
    shape: tuple[int, int, int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pad: tuple[int, int, int, int] = (0, 0, 0, 0),
    zeros: tuple[int, int] = (0, 0),
    scales: Scale | Sequence[Scale] | None = None,
) -> Tensor:
    """MAX_POOL2D or AVG_POOL2D, scaled if wanted; only the latter has zero points, of input and output."""
    pads = (pad[0] + pad[1], pad[2] + pad[3])
    sizes = [
        (size + more - taps) // step + 1
        for size, more, taps, step in zip(shape[1:3], pads, kernel, stride, strict=True)
    ]
    operands = [graph.input(shape, dtype)]
    attributes = [list(kernel), list(stride), list(pad)]
    if kind == Op.AVG_POOL2D:
        operands += [graph.constant([zero], dtype) for zero in zeros]
        attributes.append(INT32)
    else:
        attributes.append(PROPAGATE)
    result = graph.operator(kind, operands, (shape[0], *sizes, shape[3]), dtype, *attributes)
    return graph.rescale(result, dtype, scales) if scales else result


def argmax(graph: Graph, dtype: int, shape: tuple[int, ...], axis: int) -> Tensor:
    left = [size for index, size in enumerate(shape) if index != axis]
    return graph.operator(Op.ARGMAX, [graph.input(shape, dtype)], left, INT32, axis, PROPAGATE)


IMAGE, KERNEL, SAME, NONE = (1, 6, 5, 4), (5, 3, 3, 4), (1, 1, 1, 1), (0, 0, 0, 0)
SMALL, SMALL_KERNEL = (1, 4, 4, 3), (4, 3, 3, 3)
DEPTHWISE, VOLUME, TRANSPOSE = Op.DEPTHWISE_CONV2D, Op.CONV3D, Op.TRANSPOSE_CONV2D

CONVOLUTIONS: dict[str, Callable[[Graph], Tensor]] = {
    "conv2d.int8.zero point -128": Convolution(IMAGE, KERNEL, SAME, zeros=(-128, 0, 127)),
    "conv2d.int8.one scale": Convolution(SMALL, (4, 3, 2, 3), (1, 1, 0, 1), per_channel=False),
    "conv2d.int8.rounded twice": Convolution(SMALL, SMALL_KERNEL, SAME, mode=DOUBLE),
    "conv2d.int8.weights with zero point": Convolution(SMALL, SMALL_KERNEL, SAME, zeros=(3, 5, -4)),
    "conv2d.int8.stride 2": Convolution((1, 9, 7, 5), (4, 3, 3, 5), NONE, stride=(2, 2)),
    "conv2d.int8.dilation 2": Convolution((1, 7, 6, 3), (5, 3, 3, 3), (2, 2, 2, 2), dilation=(2, 2)),
    "conv2d.int8.uneven padding": Convolution((1, 5, 5, 4), (3, 4, 3, 4), (0, 3, 2, 0)),
    "conv2d.int8.window in padding": Convolution(
        (1, 1, 13, 1), (2, 3, 1, 1), (1, 4, 0, 0), stride=(1, 4), dilation=(2, 3)
    ),
    "conv2d.int8.padded by a copy": Convolution(
        (1, 8, 6, 1), (2, 3, 1, 1), (0, 0, 0, 3), stride=(1, 4), dilation=(2, 1)
    ),
    "conv2d.int8.wide kernel": Convolution((1, 3, 67, 1), (2, 2, 66, 1), NONE),
    "conv2d.int8.batch": Convolution((2, 4, 5, 3), SMALL_KERNEL, SAME),
    "conv2d.int8.130 channels": Convolution((1, 1, 2, 2), (130, 1, 1, 2), NONE),
    "conv2d.int8.to int16": Convolution(SMALL, SMALL_KERNEL, SAME, to=INT16),
    "conv2d.int8.accumulators": Convolution(SMALL, SMALL_KERNEL, SAME, raw=True),
    "conv2d.int8.weights as input": Convolution(SMALL, SMALL_KERNEL, SAME, constant=False),
    "conv2d.int8.weights as input, one scale": Convolution(
        SMALL, SMALL_KERNEL, SAME, constant=False, per_channel=False
    ),
    "conv2d.int16.plain": Convolution(SMALL, SMALL_KERNEL, SAME, dtype=INT16),
    "conv2d.int16.stride 4": Convolution((1, 9, 9, 2), (3, 5, 5, 2), NONE, stride=(4, 4), dtype=INT16),
    "conv2d.int16.dilation 3 by 1": Convolution(
        (1, 7, 4, 2), (2, 3, 3, 2), (3, 3, 1, 1), dilation=(3, 1), dtype=INT16
    ),
    "conv2d.int16.to int8": Convolution(SMALL, SMALL_KERNEL, SAME, dtype=INT16, to=INT8),
    "conv2d.int16.to int32": Convolution(SMALL, SMALL_KERNEL, SAME, dtype=INT16, to=INT32),
    "conv3d.int8.plain": Convolution((1, 3, 4, 5, 3), (4, 2, 3, 3, 3), (0, 0, *SAME), VOLUME),
    "conv3d.int8.padding": Convolution((1, 3, 4, 4, 2), (3, 3, 3, 3, 2), (1, 1, *SAME), VOLUME),
    "conv3d.int8.weights as input": Convolution(
        (1, 2, 3, 3, 2), (3, 2, 3, 3, 2), (0, 0, *SAME), VOLUME, constant=False
    ),
    "conv3d.int16.stride": Convolution(
        (1, 4, 5, 5, 2), (3, 2, 3, 3, 2), (0, 0, *NONE), VOLUME, stride=(2, 2, 2), dtype=INT16
    ),
    "depthwise_conv2d.int8.plain": Convolution(IMAGE, (3, 3, 4, 1), SAME, DEPTHWISE),
    "depthwise_conv2d.int8.multiplier 3": Convolution((1, 4, 5, 4), (3, 3, 4, 3), SAME, DEPTHWISE),
    "depthwise_conv2d.int16.plain": Convolution(SMALL, (3, 3, 3, 1), SAME, DEPTHWISE, dtype=INT16),
    "depthwise_conv2d.int16.dilation 2": Convolution(
        (1, 6, 6, 3), (3, 3, 3, 1), (2, 2, 2, 2), DEPTHWISE, dilation=(2, 2), dtype=INT16
    ),
    "transpose_conv2d.int8.stride 2": Convolution((1, 3, 4, 3), SMALL_KERNEL, NONE, TRANSPOSE, stride=(2, 2)),
    "transpose_conv2d.int8.cropped": Convolution(
        (1, 3, 4, 3), SMALL_KERNEL, (-1, -1, -1, -1), TRANSPOSE, stride=(2, 2)
    ),
    "transpose_conv2d.int8.weights as input": Convolution(
        (1, 2, 3, 3), SMALL_KERNEL, NONE, TRANSPOSE, constant=False
    ),
    "transpose_conv2d.int16.padded": Convolution(
        (1, 3, 4, 3), (4, 2, 2, 3), (0, 1, 1, 0), TRANSPOSE, stride=(2, 2), dtype=INT16
    ),
    "transpose_conv2d.int16.stride 3 by 1": Convolution(
        (1, 3, 4, 3), (4, 3, 2, 3), NONE, TRANSPOSE, stride=(3, 1), dtype=INT16
    ),
}

_maximum, _average = partial(pooling, kind=Op.MAX_POOL2D), partial(pooling, kind=Op.AVG_POOL2D)

OTHERS: dict[str, Callable[[Graph], Tensor]] = {
    "matmul.int8.plain": partial(matrix_product, dtype=INT8, left=(2, 5, 12), columns=7),
    "matmul.int8.zero points": partial(matrix_product, dtype=INT8, left=(1, 5, 12), columns=7, zeros=(3, -5)),
    "matmul.int8.accumulators": partial(matrix_product, dtype=INT8, left=(1, 5, 9), columns=6, raw=True),
    "matmul.int8.scale per channel": partial(
        matrix_product, dtype=INT8, left=(1, 4, 9), columns=5, per_channel=True
    ),
    "matmul.int16.plain": partial(matrix_product, dtype=INT16, left=(2, 3, 8), columns=5),
    "matmul.int16.row": partial(matrix_product, dtype=INT16, left=(1, 1, 6), columns=17),
    "max_pool2d.int8.overlapping": partial(
        _maximum, dtype=INT8, shape=(1, 8, 8, 5), kernel=(3, 2), stride=(2, 2), pad=(1, 0, 0, 0)
    ),
    "max_pool2d.int8.scale per channel": partial(
        _maximum,
        dtype=INT8,
        shape=(1, 4, 4, 5),
        kernel=(2, 2),
        stride=(2, 2),
        scales=channel_scales(0.7, 5, 32),
    ),
    "max_pool2d.int16.large": partial(
        _maximum, dtype=INT16, shape=(1, 12, 13, 1), kernel=(10, 12), stride=(2, 1), pad=(3, 3, 0, 0)
    ),
    "avg_pool2d.int8.padded": partial(
        _average, dtype=INT8, shape=(1, 6, 6, 5), kernel=(3, 3), stride=(1, 1), pad=SAME
    ),
    "avg_pool2d.int8.zero points": partial(
        _average, dtype=INT8, shape=(1, 8, 6, 5), kernel=(2, 2), stride=(2, 2), zeros=(4, -6)
    ),
    "avg_pool2d.int8.large padded": partial(
        _average, dtype=INT8, shape=(1, 10, 11, 2), kernel=(9, 10), stride=(2, 1), pad=(2, 3, 4, 5)
    ),
    "avg_pool2d.int8.batch large padded": partial(
        _average, dtype=INT8, shape=(2, 3, 4, 1), kernel=(9, 9), stride=(1, 1), pad=(4, 4, 4, 4)
    ),
    "avg_pool2d.int8.stride 3": partial(
        _average, dtype=INT8, shape=(2, 6, 5, 3), kernel=(3, 2), stride=(3, 3)
    ),
    "avg_pool2d.int16.scale per channel": partial(
        _average,
        dtype=INT16,
        shape=(1, 10, 9, 2),
        kernel=(10, 9),
        stride=(1, 1),
        scales=channel_scales(0.7, 2, 32),
    ),
    "argmax.int8.channels": partial(argmax, dtype=INT8, shape=(1, 3, 4, 9), axis=3),
    "argmax.int8.rows": partial(argmax, dtype=INT8, shape=(1, 7, 4, 3), axis=1),
    "argmax.int16.columns": partial(argmax, dtype=INT16, shape=(1, 3, 8, 4), axis=2),
    "argmax.int16.long": partial(argmax, dtype=INT16, shape=(1, 70), axis=1),
}

CASES = CONVOLUTIONS | OTHERS
