"""A TOSA 1.0 graph under construction, with the range that each of its inputs is to be drawn from.

It runs in the environment of make.py: the serializer is that of tosa-tools. Operators, their operands and
their attributes are those of the TOSA 1.0 specification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import frexp
from typing import Any

import numpy as np
from serializer import tosa_serializer
from tosa.DType import DType
from tosa.NanPropagationMode import NanPropagationMode
from tosa.Op import Op
from tosa.RoundingMode import RoundingMode

BOOL, INT8, INT16, INT32, INT48 = DType.BOOL, DType.INT8, DType.INT16, DType.INT32, DType.INT48
SINGLE, DOUBLE, INEXACT = (
    RoundingMode.SINGLE_ROUND,
    RoundingMode.DOUBLE_ROUND,
    RoundingMode.INEXACT_ROUND,
)
PROPAGATE = NanPropagationMode.PROPAGATE  #: means nothing for integers, but operators have to say it

NAMES = {BOOL: "bool", INT8: "int8", INT16: "int16", INT32: "int32", INT48: "int48"}
ARRAYS = {BOOL: np.bool_, INT8: np.int8, INT16: np.int16, INT32: np.int32, INT48: np.int64}
BITS = {BOOL: 1, INT8: 8, INT16: 16, INT32: 32, INT48: 48}

Tensor = Any  #: the serializer's
Shape = Sequence[int]


@dataclass(frozen=True)
class Input:
    """A graph input; its samples lie between `low` and `high`, both included."""

    shape: tuple[int, ...]
    dtype: int
    low: int
    high: int


@dataclass(frozen=True)
class Scale:
    """A factor as RESCALE takes it: multiplier * 2**-shift, the multiplier of 32 or 16 signed bits."""

    multiplier: int
    shift: int
    bits: int = 32


def scale(factor: float, bits: int = 32) -> Scale:
    """The multiplier of full precision, between 2**(bits-2) and 2**(bits-1), that is nearest to a factor."""
    fraction, exponent = frexp(factor)
    multiplier = round(fraction * (1 << (bits - 1)))
    if multiplier == 1 << (bits - 1):
        multiplier, exponent = multiplier // 2, exponent + 1
    return Scale(multiplier, bits - 1 - exponent, bits)


class Graph:
    """One region with one block; operators are added in the order in which they run."""

    def __init__(self, seed: int) -> None:
        # Without a path nothing is written; the version is 1.0, which Vela reads, and not a draft.
        self._serializer = tosa_serializer.TosaSerializer(
            "", tosa_version_minor=0, tosa_version_patch=0, tosa_version_draft=False
        )
        self.inputs: list[Input] = []
        self.random = np.random.default_rng(seed)  #: for constants

    def input(self, shape: Shape, dtype: int, low: int | None = None, high: int | None = None) -> Tensor:
        """An input, of the whole range of its type unless told."""
        end = 1 << (BITS[dtype] - 1)
        least, most = (0, 1) if dtype == BOOL else (-end, end - 1)
        self.inputs.append(
            Input(tuple(shape), dtype, least if low is None else low, most if high is None else high)
        )
        return self._serializer.addPlaceholder(list(shape), dtype, None)

    def constant(self, values: Any, dtype: int) -> Tensor:
        array = np.asarray(values).astype(ARRAYS[dtype])
        return self._serializer.addConst(list(array.shape), dtype, array)

    def numbers(self, shape: Shape, dtype: int, low: int, high: int) -> Tensor:
        """A constant of random numbers."""
        return self.constant(self.random.integers(low, high, shape, endpoint=True), dtype)

    def shape(self, *values: int) -> Tensor:
        """A constant of the type that shapes have."""
        return self._serializer.addConst([len(values)], DType.SHAPE, np.array(values, np.int64))

    def operator(
        self, kind: int, operands: Sequence[Tensor], shape: Shape, dtype: int, *attributes: Any
    ) -> Tensor:
        """The result of an operator; `attributes` are in the order of the serializer."""
        written = tosa_serializer.TosaSerializerAttribute()
        if kind == Op.CLAMP:
            attributes = (self._serializer.builder, *attributes)
        written.setAttribute(kind, *attributes)
        result = self._serializer.addIntermediate(list(shape), dtype)
        self._serializer.addOperator(kind, [each.name for each in operands], [result.name], written)
        return result

    def rescale(
        self,
        value: Tensor,
        dtype: int,
        scales: Scale | Sequence[Scale],
        zeros: tuple[int, int] = (0, 0),
        *,
        mode: int = SINGLE,
        unsigned: tuple[bool, bool] = (False, False),
    ) -> Tensor:
        """RESCALE: by one scale, or by one for each channel. `zeros` and `unsigned`: of input and output."""
        per_channel = not isinstance(scales, Scale)
        listed = scales if per_channel else [scales]
        wide = listed[0].bits == 32
        operands = [
            value,
            self.constant([each.multiplier for each in listed], INT32 if wide else INT16),
            self.constant([each.shift for each in listed], INT8),
            self.constant([zeros[0]], value.dtype),
            self.constant([zeros[1]], dtype),
        ]
        return self.operator(Op.RESCALE, operands, value.shape, dtype, wide, mode, per_channel, *unsigned)

    def finish(self, *results: Tensor) -> bytes:
        """The file's bytes, with these outputs."""
        for result in results:
            self._serializer.addOutputTensor(result)
        return bytes(self._serializer.serialize())
