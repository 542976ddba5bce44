"""Operators with a kernel whose sizes, strides, paddings and channels are drawn freely, from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .cases_kernels import BUILDERS, exists
from .network import Operator

Row = dict[str, Any]
Draw = Callable[[int, int], int]  #: a number from the first to the second

MOST_SIZE, MOST_KERNEL, MOST_STRIDE = 26, 7, 4
FEW, MANY = 9, 150  #: channels: half of all cases have few
READ_AGAIN, SPLIT_BEYOND = 48, 3  #: more channels than that, and a larger stride: see listed.toml


def drawn_operators(seed: int, count: int) -> Iterator[tuple[str, Row, Operator]]:
    """Yield `count` operators: kind, what was drawn, and the operator itself."""
    generator = np.random.default_rng(seed)

    def draw(low: int, high: int) -> int:
        return int(generator.integers(low, high, endpoint=True))

    while count:
        kind = list(BUILDERS)[draw(0, len(BUILDERS) - 1)]
        row = _row(kind, draw)
        if _is_sound(kind, row):
            yield kind, row, BUILDERS[kind](row)
            count -= 1


def _row(kind: str, draw: Draw) -> Row:
    """What every kind may have a use for, and then what this one needs besides."""
    size, kernel, stride = ((draw(1, most), draw(1, most)) for most in (MOST_SIZE, MOST_KERNEL, MOST_STRIDE))
    dilation = (draw(1, 4), draw(1, 4)) if draw(0, 3) == 0 else (1, 1)
    row = {
        "dtype": ("int8", "int16")[draw(0, 1)],
        "size": size,
        "k": kernel,
        "s": stride if dilation == (1, 1) else (1, 1),
        "d": dilation,
        "padding": ("same", "valid")[draw(0, 1)],
        "act": ("NONE", "RELU", "RELU6")[draw(0, 2)],
        "per-channel": bool(draw(0, 1)),
        "bias": bool(draw(0, 1)),
        "c": (_channels(draw), _channels(draw)),
    }
    return row | _ITS_OWN[kind](row, draw)


def _channels(draw: Draw) -> int:
    return draw(1, FEW) if draw(0, 1) else draw(FEW, MANY)


_ITS_OWN: dict[str, Callable[[Row, Draw], Row]] = {
    "conv_2d": lambda row, draw: {},
    "depthwise_conv_2d": lambda row, draw: {"c": (row["c"][0], draw(1, 3))},
    # Few channels: tflite-micro keeps its sums in the arena.
    "transpose_conv": lambda row, draw: {
        "c": (draw(1, 40), draw(1, 40)),
        "s": (1, 1) if draw(0, 1) else (2, 2),
        "d": (1, 1),
    },
    "pool": lambda row, draw: {
        "c": row["c"][0],
        "op": ("MAX", "AVERAGE")[draw(0, 1)],
        "d": (1, 1),
        "s": row["s"],
    },
    "fully_connected": lambda row, draw: {
        "c": (draw(1, FEW), draw(1, 400), draw(1, 200)),
        "sparse": bool(draw(0, 1)),
        "act": "NONE",
    },
    "batch_matmul": lambda row, draw: {
        "c": (draw(1, 4), draw(1, 20), draw(1, 60), draw(1, 40)),
        "adj-x": bool(draw(0, 1)),
        "adj-y": bool(draw(0, 1)),
    },
}


def _is_sound(kind: str, row: Row) -> bool:
    """Whether there is such an operator, and the compiler is not known to get it wrong."""
    if kind in ("conv_2d", "depthwise_conv_2d", "pool") and not exists(**row):
        return False
    channels = {"depthwise_conv_2d": lambda: row["c"][0] * row["c"][1], "pool": lambda: row["c"]}
    is_deep = kind in channels and channels[kind]() > READ_AGAIN
    return not (is_deep and max(row["s"]) > SPLIT_BEYOND)
