"""Operators on the elements of one, two or three tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from graph import BITS, BOOL, DOUBLE, INT8, INT16, INT32, NAMES, PROPAGATE, SINGLE, Graph, Tensor, scale
from tosa.Op import Op

SHAPE = {BOOL: (1, 3, 4, 5), INT8: (1, 3, 4, 5), INT16: (1, 3, 2, 5), INT32: (1, 2, 3, 4)}
SPARE_BITS = {INT8: 20, INT16: 12}  #: by which inputs are scaled up to 32 bits, as ExecuTorch does
HALF = (-(1 << 30), (1 << 30) - 1)  #: no sum or difference of such numbers leaves 32 bits
SIGNED = (-(1 << 31) + 1, (1 << 31) - 1)  #: all numbers of 32 bits that have a negative

Case = Callable[[Graph], Tensor]

BROADCASTS = {
    "plain": lambda shape: (shape, shape),
    "channels": lambda shape: (shape, (1, 1, 1, shape[-1])),
    "rows": lambda shape: ((1, shape[1], 1, 1), shape),
    "both": lambda shape: ((1, 1, *shape[2:]), (1, shape[1], 1, shape[3])),
}
"""The shapes of two operands of which the result has the given one."""


def unary(graph: Graph, kind: int, dtype: int, low: int | None = None, high: int | None = None) -> Tensor:
    shape = SHAPE[dtype]
    return graph.operator(kind, [graph.input(shape, dtype, low, high)], shape, dtype)


def binary(
    graph: Graph,
    kind: int,
    dtype: int,
    broadcast: str = "plain",
    ranges: tuple[tuple[int, int] | tuple[()], tuple[int, int] | tuple[()]] = ((), ()),
    to: int | None = None,
    attributes: tuple[int, ...] = (),
) -> Tensor:
    """An operator on two inputs, each of its own range."""
    shape = SHAPE[dtype]
    operands = [
        graph.input(each, dtype, *limits)
        for each, limits in zip(BROADCASTS[broadcast](shape), ranges, strict=True)
    ]
    return graph.operator(kind, operands, shape, dtype if to is None else to, *attributes)


def scaled(
    graph: Graph,
    kind: int,
    dtype: int,
    broadcast: str,
    attributes: tuple[int, ...] = (),
    mode: int = SINGLE,
    factors: tuple[float, float, float] = (0.37, 0.81, 1.3),
) -> Tensor:
    """An operator for 32 bits on two inputs that are scaled up to them; its result is scaled down again.

    `factors` are those of the inputs and of the result, beside the bits that come and go.
    """
    shape, spare = SHAPE[dtype], SPARE_BITS[dtype]
    zeros = (-3, 5, 2) if dtype == INT8 else (0, 0, 0)
    operands = [
        graph.rescale(graph.input(each, dtype), INT32, scale(factor * (1 << spare)), (zero, 0), mode=mode)
        for each, factor, zero in zip(BROADCASTS[broadcast](shape), factors[:2], zeros[:2], strict=True)
    ]
    result = graph.operator(kind, operands, shape, INT32, *attributes)
    return graph.rescale(result, dtype, scale(factors[2] / (1 << spare)), (0, zeros[2]), mode=mode)


def product(
    graph: Graph, dtype: int, broadcast: str, shift: int = 0, limit: int | None = None, to: int | None = None
) -> Tensor:
    """MUL, whose result has 32 bits; scaled down to the type `to`, if there is one."""
    shape = SHAPE[dtype]
    limits = () if limit is None else (-limit, limit)
    operands = [graph.input(each, dtype, *limits) for each in BROADCASTS[broadcast](shape)]
    result = graph.operator(Op.MUL, [*operands, graph.constant([shift], INT8)], shape, INT32)
    if to is None:
        return result
    return graph.rescale(result, to, scale(1.2 / (1 << (BITS[dtype] - 1))), (0, 2 if to == INT8 else 0))


def scaled_product(graph: Graph, dtype: int) -> Tensor:
    """MUL of inputs without their zero points, as ExecuTorch writes it."""
    shape, zero = SHAPE[dtype], -7 if dtype == INT8 else 0
    operands = [
        graph.rescale(graph.input(shape, dtype), INT32, scale(1.0), (each, 0)) for each in (zero, -zero)
    ]
    result = graph.operator(Op.MUL, [*operands, graph.constant([0], INT8)], shape, INT32)
    return graph.rescale(result, dtype, scale(1.7 / (1 << BITS[dtype])), (0, zero))


def compared(graph: Graph, kind: int, dtype: int, broadcast: str) -> Tensor:
    """A comparison of two inputs that are scaled up to 32 bits."""
    shape, zero = SHAPE[dtype], 2 if dtype == INT8 else 0
    operands = [
        graph.rescale(graph.input(each, dtype, -9, 9), INT32, scale(factor), (zero, 0))
        for each, factor in zip(BROADCASTS[broadcast](shape), (1024.0, 512.0), strict=True)
    ]
    return graph.operator(kind, operands, shape, BOOL)


def negated(graph: Graph, dtype: int, zeros: tuple[int, int]) -> Tensor:
    """NEGATE; TOSA demands that 32-bit results fit, so that the lowest number is not among the inputs."""
    shape = SHAPE[dtype]
    low = -(1 << 31) + 1 if dtype == INT32 else None
    operands = [graph.input(shape, dtype, low), *(graph.constant([zero], dtype) for zero in zeros)]
    return graph.operator(Op.NEGATE, operands, shape, dtype)


def clamped(graph: Graph, dtype: int, low: int, high: int) -> Tensor:
    shape, width = SHAPE[dtype], BITS[dtype] // 8
    limits = (each.to_bytes(width, "little", signed=True) for each in (low, high))
    return graph.operator(Op.CLAMP, [graph.input(shape, dtype)], shape, dtype, *limits, PROPAGATE)


def selected(graph: Graph, dtype: int, *shapes: tuple[int, ...]) -> Tensor:
    """SELECT with a condition and two values of the given shapes, or all of one shape."""
    shape = SHAPE[dtype]
    condition, yes, no = shapes or (shape, shape, shape)
    operands = [graph.input(condition, BOOL), graph.input(yes, dtype), graph.input(no, dtype)]
    return graph.operator(Op.SELECT, operands, shape, dtype)


def absolute(graph: Graph) -> Tensor:
    """ABS of an 8-bit input, scaled up and down again."""
    value = graph.rescale(graph.input(SHAPE[INT8], INT8), INT32, scale(0.4 * 1024), (2, 0))
    result = graph.operator(Op.ABS, [value], SHAPE[INT8], INT32)
    return graph.rescale(result, INT8, scale(1.7 / 1024), (0, -20))


def leading_zeros(graph: Graph) -> Tensor:
    """CLZ of an 8-bit input that is scaled up."""
    value = graph.rescale(graph.input(SHAPE[INT8], INT8), INT32, scale(37.5), (2, 0))
    return graph.operator(Op.CLZ, [value], SHAPE[INT8], INT32)


def extremum_with_constant(graph: Graph, kind: int, shape: tuple[int, ...]) -> Tensor:
    """MAXIMUM or MINIMUM of a 32-bit input and a constant of a shape."""
    whole = SHAPE[INT32]
    operands = [graph.input(whole, INT32), graph.numbers(shape, INT32, *SIGNED)]
    return graph.operator(kind, operands, whole, INT32, PROPAGATE)


def of_shapes(graph: Graph, kind: int, *shapes: tuple[int, ...]) -> Tensor:
    """An operator on two 32-bit inputs."""
    operands = [graph.input(shape, INT32, *HALF) for shape in shapes]
    return graph.operator(kind, operands, np.broadcast_shapes(*shapes), INT32)


NEAR = (-4, 4)
EXTREMUM = (PROPAGATE,)

ARITHMETIC: dict[str, Case] = {
    "add.int8.plain": partial(scaled, kind=Op.ADD, dtype=INT8, broadcast="plain"),
    "add.int8.rounded twice": partial(
        scaled, kind=Op.ADD, dtype=INT8, broadcast="plain", mode=DOUBLE, factors=(0.5, 0.25, 0.5)
    ),
    "add.int16.rows": partial(scaled, kind=Op.ADD, dtype=INT16, broadcast="rows"),
    "add.int32.plain": partial(binary, kind=Op.ADD, dtype=INT32, ranges=(HALF, HALF)),
    "add.int32.five dimensions": lambda graph: of_shapes(graph, Op.ADD, (2, 3, 2, 3, 1), (1, 3, 1, 3, 2)),
    "sub.int8.channels": partial(scaled, kind=Op.SUB, dtype=INT8, broadcast="channels"),
    "sub.int16.plain": partial(scaled, kind=Op.SUB, dtype=INT16, broadcast="plain"),
    "sub.int32.batch": lambda graph: of_shapes(graph, Op.SUB, (1, 2, 3, 4), (3, 2, 3, 1)),
    "maximum.int8.channels": partial(
        scaled, kind=Op.MAXIMUM, dtype=INT8, broadcast="channels", attributes=EXTREMUM
    ),
    "maximum.int16.plain": partial(
        scaled, kind=Op.MAXIMUM, dtype=INT16, broadcast="plain", attributes=EXTREMUM
    ),
    "maximum.int32.constant": partial(extremum_with_constant, kind=Op.MAXIMUM, shape=(1, 1, 3, 1)),
    "minimum.int8.plain": partial(
        scaled, kind=Op.MINIMUM, dtype=INT8, broadcast="plain", attributes=EXTREMUM
    ),
    "minimum.int16.rows": partial(
        scaled, kind=Op.MINIMUM, dtype=INT16, broadcast="rows", attributes=EXTREMUM
    ),
    "minimum.int32.both": partial(
        binary, kind=Op.MINIMUM, dtype=INT32, broadcast="both", attributes=EXTREMUM
    ),
    "mul.int8.plain": partial(product, dtype=INT8, broadcast="plain"),
    "mul.int8.zero points": partial(scaled_product, dtype=INT8),
    "mul.int8.to int8": partial(product, dtype=INT8, broadcast="channels", to=INT8),
    "mul.int16.to int16": partial(product, dtype=INT16, broadcast="rows", to=INT16),
    "mul.int32.shift 0": partial(product, dtype=INT32, broadcast="plain", limit=40000),
    "mul.int32.shift 31": partial(product, dtype=INT32, broadcast="channels", shift=31, limit=SIGNED[1]),
    "intdiv.int32.plain": partial(binary, kind=Op.INTDIV, dtype=INT32, ranges=(HALF, (1, 1000))),
    "intdiv.int32.negative": partial(
        binary, kind=Op.INTDIV, dtype=INT32, broadcast="channels", ranges=(SIGNED, (-70000, -1))
    ),
    "abs.int8.scaled": absolute,
    "abs.int32.plain": partial(unary, kind=Op.ABS, dtype=INT32, low=SIGNED[0]),
    "clz.int8.scaled": leading_zeros,
    "clz.int32.plain": partial(unary, kind=Op.CLZ, dtype=INT32),
    "negate.int8.zero points": partial(negated, dtype=INT8, zeros=(3, -2)),
    "negate.int16.plain": partial(negated, dtype=INT16, zeros=(0, 0)),
    "negate.int32.plain": partial(negated, dtype=INT32, zeros=(0, 0)),
    "clamp.int8.plain": partial(clamped, dtype=INT8, low=-30, high=55),
    "clamp.int16.plain": partial(clamped, dtype=INT16, low=-3000, high=21000),
}


def _bits() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for dtype, broadcast in ((INT8, "plain"), (INT16, "channels"), (INT32, "both")):
        typed, width = NAMES[dtype], BITS[dtype]
        for name, kind in (("and", Op.BITWISE_AND), ("or", Op.BITWISE_OR), ("xor", Op.BITWISE_XOR)):
            cases[f"bitwise_{name}.{typed}.{broadcast}"] = partial(
                binary, kind=kind, dtype=dtype, broadcast=broadcast
            )
        cases[f"bitwise_not.{typed}.plain"] = partial(unary, kind=Op.BITWISE_NOT, dtype=dtype)
        shifted = partial(binary, dtype=dtype, ranges=((), (0, width - 1)))
        right = partial(shifted, kind=Op.ARITHMETIC_RIGHT_SHIFT)
        cases[f"arithmetic_right_shift.{typed}.plain"] = partial(right, attributes=(False,))
        cases[f"arithmetic_right_shift.{typed}.rounding"] = partial(right, attributes=(True,))
        cases[f"logical_left_shift.{typed}.plain"] = partial(shifted, kind=Op.LOGICAL_LEFT_SHIFT)
        cases[f"logical_right_shift.{typed}.plain"] = partial(shifted, kind=Op.LOGICAL_RIGHT_SHIFT)
    return cases


CONDITIONS: dict[str, Case] = {
    "logical_and.bool.plain": partial(binary, kind=Op.LOGICAL_AND, dtype=BOOL),
    "logical_or.bool.both": partial(binary, kind=Op.LOGICAL_OR, dtype=BOOL, broadcast="both"),
    "logical_xor.bool.rows": partial(binary, kind=Op.LOGICAL_XOR, dtype=BOOL, broadcast="rows"),
    "logical_not.bool.plain": partial(unary, kind=Op.LOGICAL_NOT, dtype=BOOL),
    "equal.int32.near": partial(binary, kind=Op.EQUAL, dtype=INT32, ranges=(NEAR, NEAR), to=BOOL),
    "greater.int32.near": partial(binary, kind=Op.GREATER, dtype=INT32, ranges=(NEAR, NEAR), to=BOOL),
    "greater.int32.far": partial(binary, kind=Op.GREATER, dtype=INT32, broadcast="channels", to=BOOL),
    "greater_equal.int32.near": partial(
        binary, kind=Op.GREATER_EQUAL, dtype=INT32, broadcast="both", ranges=(NEAR, NEAR), to=BOOL
    ),
    "equal.int8.scaled": partial(compared, kind=Op.EQUAL, dtype=INT8, broadcast="plain"),
    "greater.int8.scaled": partial(compared, kind=Op.GREATER, dtype=INT8, broadcast="channels"),
    "greater_equal.int8.scaled": partial(compared, kind=Op.GREATER_EQUAL, dtype=INT8, broadcast="plain"),
    "greater_equal.int16.scaled": partial(compared, kind=Op.GREATER_EQUAL, dtype=INT16, broadcast="rows"),
    "select.bool.plain": partial(selected, dtype=BOOL),
    "select.int8.broadcast": lambda graph: selected(graph, INT8, (1, 3, 1, 1), (1, 3, 4, 5), (1, 1, 1, 5)),
    "select.int16.plain": partial(selected, dtype=INT16),
    "select.int32.broadcast": lambda graph: selected(graph, INT32, (1, 1, 1, 4), (1, 2, 1, 1), (1, 2, 3, 4)),
}

CASES = ARITHMETIC | _bits() | CONDITIONS
