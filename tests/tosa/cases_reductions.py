"""Reductions of one axis."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from graph import BOOL, INT8, INT16, INT32, PROPAGATE, Graph, Tensor, scale
from tosa.Op import Op

SHAPE = (1, 4, 3, 5)
VOLUME = (3, 2, 4, 5)

Case = Callable[[Graph], Tensor]


def kept(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape with one element along the axis."""
    return tuple(1 if index == axis else size for index, size in enumerate(shape))


def reduced(
    graph: Graph,
    kind: int,
    dtype: int,
    axis: int,
    shape: tuple[int, ...] = SHAPE,
    limits: tuple[int, ...] = (),
    attributes: tuple[int, ...] = (),
) -> Tensor:
    value = graph.input(shape, dtype, *limits)
    return graph.operator(kind, [value], kept(shape, axis), dtype, axis, *attributes)


def scaled_sum(graph: Graph, dtype: int, axis: int) -> Tensor:
    """REDUCE_SUM, which is for 32 bits, of an input that is scaled up to them, and scaled down again."""
    zero, spare = (3, 512) if dtype == INT8 else (0, 16)
    value = graph.rescale(graph.input(SHAPE, dtype), INT32, scale(float(spare)), (zero, 0))
    result = graph.operator(Op.REDUCE_SUM, [value], kept(SHAPE, axis), INT32, axis)
    return graph.rescale(result, dtype, scale(0.3 / spare), (0, zero // 2))


_maximum = partial(reduced, kind=Op.REDUCE_MAX, attributes=(PROPAGATE,))
_minimum = partial(reduced, kind=Op.REDUCE_MIN, attributes=(PROPAGATE,))
_sum = partial(reduced, kind=Op.REDUCE_SUM, dtype=INT32, limits=(-(1 << 23), 1 << 23))

CASES: dict[str, Case] = {
    "reduce_max.int8.rows": partial(_maximum, dtype=INT8, axis=1),
    "reduce_max.int16.channels": partial(_maximum, dtype=INT16, axis=3),
    "reduce_max.int32.columns": partial(_maximum, dtype=INT32, axis=2, shape=(1, 3, 4, 5)),
    "reduce_min.int8.channels": partial(_minimum, dtype=INT8, axis=3),
    "reduce_min.int16.long": partial(_minimum, dtype=INT16, axis=0, shape=(70, 1)),
    "reduce_min.int32.five dimensions": partial(_minimum, dtype=INT32, axis=1, shape=(2, 3, 2, 2, 3)),
    "reduce_sum.int8.scaled columns": partial(scaled_sum, dtype=INT8, axis=2),
    "reduce_sum.int16.scaled channels": partial(scaled_sum, dtype=INT16, axis=3),
    "reduce_sum.int32.channels": partial(_sum, axis=3, shape=(1, 3, 4, 5)),
    "reduce_sum.int32.long": partial(_sum, axis=0, shape=(70,)),
    "reduce_all.bool.rows": partial(reduced, kind=Op.REDUCE_ALL, dtype=BOOL, axis=1),
    "reduce_all.bool.channels": partial(reduced, kind=Op.REDUCE_ALL, dtype=BOOL, axis=3),
    "reduce_any.bool.matrix": partial(reduced, kind=Op.REDUCE_ANY, dtype=BOOL, axis=0, shape=(4, 9)),
}
