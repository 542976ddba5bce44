"""RESCALE, CAST, TABLE and RESIZE: operators that change the values of one tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from graph import (
    BOOL,
    DOUBLE,
    INEXACT,
    INT8,
    INT16,
    INT32,
    INT48,
    SINGLE,
    Graph,
    Tensor,
    scale,
)
from tosa.Op import Op
from tosa.ResizeMode import ResizeMode

SHAPE = (1, 2, 4, 5)

Case = Callable[[Graph], Tensor]


@dataclass(frozen=True)
class Rescale:
    """RESCALE of an input by a factor, or for each channel by one that is a little larger.

    Rounding twice shows at the halves below zero, of which powers of two below a half have many.
    """

    source: int
    to: int
    factor: float
    zeros: tuple[int, int] = (0, 0)
    per_channel: bool = False
    mode: int = SINGLE
    bits: int = 32  #: of the multiplier
    unsigned: tuple[bool, bool] = (False, False)

    def __call__(self, graph: Graph) -> Tensor:
        channels = SHAPE[-1]
        scales = [scale(self.factor * (1 + index / channels), self.bits) for index in range(channels)]
        value = graph.input(SHAPE, self.source)
        return graph.rescale(
            value,
            self.to,
            scales if self.per_channel else scales[0],
            self.zeros,
            mode=self.mode,
            unsigned=self.unsigned,
        )


def cast(graph: Graph, source: int, to: int) -> Tensor:
    """CAST; to bool of small numbers, so that there are zeros among them."""
    limits = (-2, 2) if to == BOOL else ()
    return graph.operator(Op.CAST, [graph.input(SHAPE, source, *limits)], SHAPE, to)


def narrow_table(graph: Graph) -> Tensor:
    """TABLE of an 8-bit input: one number for each of its values."""
    table = graph.numbers((256,), INT8, -128, 127)
    return graph.operator(Op.TABLE, [graph.input(SHAPE, INT8), table], SHAPE, INT8)


def wide_table(graph: Graph, values: np.ndarray, *, raw: bool) -> Tensor:
    """TABLE of a 16-bit input: 513 points of a curve, whose values have 7 bits more than those."""
    table = graph.constant(values, INT16)
    result = graph.operator(Op.TABLE, [graph.input(SHAPE, INT16), table], SHAPE, INT32)
    return result if raw else graph.rescale(result, INT16, scale(1 / 128))


CURVE = np.round(32767 * np.tanh(np.linspace(-4, 4, 513)))
ZIGZAG = np.where(np.arange(513) % 2, 9000, -12345) + np.arange(513)


@dataclass(frozen=True)
class Resize:
    """RESIZE by numerator / denominator, the same in both directions; bilinear results are scaled down."""

    mode: int
    dtype: int
    ratio: tuple[int, int]
    offset: int = 0
    border: int = 0
    size: tuple[int, int] = (3, 4)
    raw: bool = False

    def __call__(self, graph: Graph) -> Tensor:
        numerator, denominator = self.ratio
        operands = [
            graph.input((1, *self.size, 3), self.dtype),
            graph.shape(numerator, denominator, numerator, denominator),
            graph.shape(self.offset, self.offset),
            graph.shape(self.border, self.border),
        ]
        sizes = [
            ((size - 1) * numerator - self.offset + self.border) // denominator + 1 for size in self.size
        ]
        nearest = self.mode == ResizeMode.NEAREST
        to = self.dtype if nearest else {INT8: INT32, INT16: INT48}[self.dtype]
        result = graph.operator(Op.RESIZE, operands, (1, *sizes, 3), to, self.mode)
        if nearest or self.raw:
            return result
        bits = 32 if self.dtype == INT8 else 16
        return graph.rescale(result, self.dtype, scale(1 / numerator**2, bits))


RESCALES: dict[str, Case] = {
    "rescale.int8.to int8": Rescale(INT8, INT8, 0.77, (5, -3)),
    "rescale.int8.to int8 per channel": Rescale(INT8, INT8, 5.3, (5, -3), per_channel=True),
    "rescale.int8.to int8 rounded twice": Rescale(INT8, INT8, 0.25, (5, -3), mode=DOUBLE),
    "rescale.int8.to int8 rounded inexactly": Rescale(INT8, INT8, 0.77, (5, -3), mode=INEXACT),
    "rescale.int8.to int8 by 16 bits": Rescale(INT8, INT8, 0.3, (5, -3), bits=16),
    "rescale.int8.from unsigned": Rescale(INT8, INT8, 0.9, (128, -3), unsigned=(True, False)),
    "rescale.int8.to unsigned": Rescale(INT8, INT8, 1.4, (-3, 131), unsigned=(False, True)),
    "rescale.int8.to int16": Rescale(INT8, INT16, 201.7, (5, 0)),
    "rescale.int16.to int8": Rescale(INT16, INT8, 0.0031, (0, -3)),
    "rescale.int16.to int16 per channel": Rescale(INT16, INT16, 0.71, per_channel=True),
    "rescale.int16.to int16 rounded twice": Rescale(INT16, INT16, 2.0**-3, mode=DOUBLE),
    "rescale.int16.to int32": Rescale(INT16, INT32, 300.7),
    "rescale.int16.from unsigned": Rescale(INT16, INT16, 0.9, (32768, 0), unsigned=(True, False)),
    "rescale.int16.to unsigned": Rescale(INT16, INT16, 1.4, (0, 32768), unsigned=(False, True)),
    "rescale.int32.to int8": Rescale(INT32, INT8, 0.31 / (1 << 24), (0, -3)),
    "rescale.int32.to int8 by 2^-31": Rescale(INT32, INT8, 2.0**-31),
    "rescale.int32.to int16 rounded twice": Rescale(INT32, INT16, 0.61 / (1 << 16), mode=DOUBLE),
    "rescale.int32.to int16 per channel": Rescale(INT32, INT16, 0.31 / (1 << 16), per_channel=True),
    "rescale.int32.to int32 rounded twice": Rescale(INT32, INT32, 2.0**-3, mode=DOUBLE),
}

CASTS: dict[str, Case] = {
    "cast.int8.to int16": partial(cast, source=INT8, to=INT16),
    "cast.int8.to int32": partial(cast, source=INT8, to=INT32),
    "cast.int8.to bool": partial(cast, source=INT8, to=BOOL),
    "cast.int16.to int8": partial(cast, source=INT16, to=INT8),
    "cast.int16.to int32": partial(cast, source=INT16, to=INT32),
    "cast.int32.to int8": partial(cast, source=INT32, to=INT8),
    "cast.int32.to int16": partial(cast, source=INT32, to=INT16),
    "cast.int32.to bool": partial(cast, source=INT32, to=BOOL),
    "cast.bool.to int8": partial(cast, source=BOOL, to=INT8),
    "cast.bool.to int32": partial(cast, source=BOOL, to=INT32),
}

NEAREST, BILINEAR = ResizeMode.NEAREST, ResizeMode.BILINEAR

RESIZES: dict[str, Case] = {
    "resize.int8.nearest twice": Resize(NEAREST, INT8, (2, 1), border=1),
    "resize.int8.nearest half": Resize(NEAREST, INT8, (2, 4), 1, -1, size=(6, 4)),
    "resize.int8.nearest three to two": Resize(NEAREST, INT8, (3, 2), size=(3, 5)),
    "resize.int8.bilinear twice": Resize(BILINEAR, INT8, (2, 1), border=1, size=(2, 3)),
    "resize.int8.bilinear four times, centred": Resize(BILINEAR, INT8, (8, 2), -3, 3, size=(2, 3)),
    "resize.int8.bilinear half": Resize(BILINEAR, INT8, (2, 4), 1, -1, size=(6, 4)),
    "resize.int8.bilinear of one element": Resize(BILINEAR, INT8, (4, 1), border=3, size=(1, 1)),
    "resize.int8.bilinear accumulators": Resize(BILINEAR, INT8, (4, 1), size=(2, 3), raw=True),
    "resize.int16.nearest four times, centred": Resize(NEAREST, INT16, (8, 2), -3, 3, size=(2, 2)),
    "resize.int16.bilinear corners": Resize(BILINEAR, INT16, (3, 1), size=(2, 3)),
}

CASES: dict[str, Case] = {
    **RESCALES,
    **CASTS,
    **RESIZES,
    "table.int8.random": narrow_table,
    "table.int16.curve": partial(wide_table, values=CURVE, raw=False),
    "table.int16.steep": partial(wide_table, values=ZIGZAG, raw=True),
}
