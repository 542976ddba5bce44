"""Operators that move elements and change none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from graph import BITS, BOOL, INT8, INT16, INT32, Graph, Tensor
from tosa.Op import Op

SHAPE = (1, 2, 4, 6)

Case = Callable[[Graph], Tensor]
Shape = tuple[int, ...]


def concatenated(graph: Graph, dtype: int, axis: int, sizes: Shape, shape: Shape = SHAPE) -> Tensor:
    """CONCAT of inputs that have the given sizes along the axis, and else the shape."""
    shapes = [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]
    total = (*shape[:axis], sum(sizes), *shape[axis + 1 :])
    return graph.operator(Op.CONCAT, [graph.input(each, dtype) for each in shapes], total, dtype, axis)


def padded(graph: Graph, dtype: int, pads: Shape, value: int, shape: Shape = SHAPE) -> Tensor:
    """PAD; `pads` has two numbers for each dimension."""
    sizes = [size + pads[2 * index] + pads[2 * index + 1] for index, size in enumerate(shape)]
    operands = [graph.input(shape, dtype), graph.shape(*pads), graph.constant([value], dtype)]
    return graph.operator(Op.PAD, operands, sizes, dtype)


def reshaped(graph: Graph, dtype: int, shape: Shape) -> Tensor:
    return graph.operator(Op.RESHAPE, [graph.input(SHAPE, dtype), graph.shape(*shape)], shape, dtype)


def reversed_(graph: Graph, dtype: int, axis: int, shape: Shape = SHAPE) -> Tensor:
    return graph.operator(Op.REVERSE, [graph.input(shape, dtype)], shape, dtype, axis)


def sliced(graph: Graph, dtype: int, start: Shape, size: Shape, shape: Shape = SHAPE) -> Tensor:
    operands = [graph.input(shape, dtype), graph.shape(*start), graph.shape(*size)]
    return graph.operator(Op.SLICE, operands, size, dtype)


def tiled(graph: Graph, dtype: int, times: Shape, shape: Shape = (1, 2, 3, 4)) -> Tensor:
    sizes = [size * count for size, count in zip(shape, times, strict=True)]
    return graph.operator(Op.TILE, [graph.input(shape, dtype), graph.shape(*times)], sizes, dtype)


def transposed(graph: Graph, dtype: int, shape: Shape, order: Shape) -> Tensor:
    sizes = [shape[axis] for axis in order]
    return graph.operator(Op.TRANSPOSE, [graph.input(shape, dtype)], sizes, dtype, list(order))


def gathered(graph: Graph, dtype: int, batch: int, rows: int, chosen: int, depth: int) -> Tensor:
    """GATHER of `chosen` of the rows, by indices that are an input."""
    operands = [graph.input((batch, rows, depth), dtype), graph.input((batch, chosen), INT32, 0, rows - 1)]
    return graph.operator(Op.GATHER, operands, (batch, chosen, depth), dtype)


def scattered(graph: Graph, dtype: int, rows: int, places: Shape, depth: int) -> Tensor:
    """SCATTER to constant places; TOSA demands that no two are the same."""
    operands = [
        graph.input((1, rows, depth), dtype),
        graph.constant([places], INT32),
        graph.input((1, len(places), depth), dtype),
    ]
    return graph.operator(Op.SCATTER, operands, (1, rows, depth), dtype)


def identical(graph: Graph, dtype: int) -> Tensor:
    return graph.operator(Op.IDENTITY, [graph.input(SHAPE, dtype)], SHAPE, dtype)


def with_constant(graph: Graph, dtype: int) -> Tensor:
    """CONST: numbers of the graph's own behind those of an input."""
    end = 1 << (BITS[dtype] - 1)
    operands = [graph.input((1, 2, 3, 4), dtype), graph.numbers((1, 2, 3, 3), dtype, -end, end - 1)]
    return graph.operator(Op.CONCAT, operands, (1, 2, 3, 7), dtype, 3)


CASES: dict[str, Case] = {
    "concat.int8.channels": partial(concatenated, dtype=INT8, axis=3, sizes=(2, 5)),
    "concat.int16.batch": partial(concatenated, dtype=INT16, axis=0, sizes=(2, 1), shape=(3, 2, 3, 4)),
    "concat.int32.channels": partial(concatenated, dtype=INT32, axis=3, sizes=(2, 3), shape=(1, 2, 3, 5)),
    "concat.bool.columns": partial(concatenated, dtype=BOOL, axis=2, sizes=(3, 1)),
    "pad.int8.space and channels": partial(padded, dtype=INT8, pads=(0, 0, 1, 2, 0, 3, 2, 0), value=-7),
    "pad.int8.five dimensions": partial(
        padded, dtype=INT8, pads=(0, 0, 1, 0, 0, 1, 0, 2, 1, 1), value=3, shape=(1, 2, 2, 2, 3)
    ),
    "pad.int16.batch": partial(
        padded, dtype=INT16, pads=(1, 0, 0, 0, 0, 0, 0, 2), value=1234, shape=(2, 2, 3, 4)
    ),
    "pad.int32.rows": partial(
        padded, dtype=INT32, pads=(0, 0, 1, 2, 0, 0, 0, 0), value=-99999, shape=(1, 2, 3, 4)
    ),
    "reshape.int8.three dimensions": partial(reshaped, dtype=INT8, shape=(1, 6, 8)),
    "reshape.int32.matrix": partial(reshaped, dtype=INT32, shape=(6, 8)),
    "reshape.bool.vector": partial(reshaped, dtype=BOOL, shape=(48,)),
    "reverse.int8.rows": partial(reversed_, dtype=INT8, axis=1),
    "reverse.int8.channels": partial(reversed_, dtype=INT8, axis=3),
    "reverse.int16.columns": partial(reversed_, dtype=INT16, axis=2),
    "reverse.int32.channels": partial(reversed_, dtype=INT32, axis=3, shape=(1, 2, 2, 5)),
    "slice.int8.middle": partial(sliced, dtype=INT8, start=(0, 1, 1, 2), size=(1, 1, 2, 3)),
    "slice.int8.five dimensions": partial(
        sliced, dtype=INT8, start=(1, 0, 1, 1, 2), size=(1, 2, 2, 1, 3), shape=(2, 3, 3, 3, 5)
    ),
    "slice.int16.columns": partial(sliced, dtype=INT16, start=(0, 0, 1, 0), size=(1, 2, 2, 6)),
    "slice.int32.channels": partial(
        sliced, dtype=INT32, start=(0, 0, 0, 3), size=(1, 2, 3, 2), shape=(1, 2, 3, 5)
    ),
    "tile.int8.rows and channels": partial(tiled, dtype=INT8, times=(1, 2, 1, 3)),
    "tile.int16.batch": partial(tiled, dtype=INT16, times=(2, 1, 2, 1)),
    "tile.int32.channels": partial(tiled, dtype=INT32, times=(1, 1, 1, 2)),
    "transpose.int8.batch": partial(transposed, dtype=INT8, shape=(2, 3, 4, 5), order=(2, 0, 3, 1)),
    "transpose.int8.five dimensions": partial(
        transposed, dtype=INT8, shape=(2, 3, 2, 4, 3), order=(4, 0, 3, 1, 2)
    ),
    "transpose.int16.backwards": partial(transposed, dtype=INT16, shape=SHAPE, order=(0, 3, 2, 1)),
    "transpose.int32.six dimensions": partial(
        transposed, dtype=INT32, shape=(2, 1, 3, 2, 2, 2), order=(5, 3, 0, 4, 2, 1)
    ),
    "transpose.bool.matrix": partial(transposed, dtype=BOOL, shape=(5, 7), order=(1, 0)),
    "gather.int8.batch": partial(gathered, dtype=INT8, batch=2, rows=4, chosen=6, depth=5),
    "gather.int16.rows": partial(gathered, dtype=INT16, batch=1, rows=5, chosen=7, depth=12),
    "gather.int32.rows": partial(gathered, dtype=INT32, batch=1, rows=5, chosen=4, depth=6),
    "scatter.int8.part of a line": partial(scattered, dtype=INT8, rows=7, places=(2, 0, 6, 3), depth=12),
    "scatter.int8.whole lines": partial(scattered, dtype=INT8, rows=4, places=(2, 0), depth=16),
    "scatter.int16.whole lines": partial(scattered, dtype=INT16, rows=4, places=(2, 0), depth=8),
    "scatter.int32.whole lines": partial(scattered, dtype=INT32, rows=5, places=(4, 1, 2), depth=4),
    "identity.int8.plain": partial(identical, dtype=INT8),
    "const.int8.behind an input": partial(with_constant, dtype=INT8),
    "const.int32.behind an input": partial(with_constant, dtype=INT32),
}
