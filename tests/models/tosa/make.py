"""Makes the graphs of this folder, with what Arm's TOSA reference model computes for some inputs.

    python make.py

It runs in an environment of its own: `pip install tosa-tools`. For each graph it writes NAME.tosa, and
NAME.npz with input sets (`input0`, `input1`, the samples along the first dimension) and their outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import tosa_reference_model
from serializer.tosa_serializer import TosaSerializer, TosaSerializerAttribute
from tosa.DType import DType
from tosa.Op import Op
from tosa.RoundingMode import RoundingMode

SEED = 85
SAMPLES = 6
DTYPES = {DType.BOOL: np.bool_, DType.INT8: np.int8, DType.INT16: np.int16, DType.INT32: np.int32}
Shape = tuple[int, ...]
Attribute = Callable[[TosaSerializerAttribute], None]


class Graph:
    """A graph of TOSA 1.0 in the making, and the range of each of its inputs."""

    def __init__(self) -> None:
        self._serializer = TosaSerializer("", tosa_version_minor=0, tosa_version_draft=False)
        self.inputs: list[tuple[Shape, int, int, int]] = []

    def input(self, shape: Shape, dtype: int, low: int, high: int) -> object:
        """A tensor that is fed with numbers from `low` to `high`."""
        self.inputs.append((shape, dtype, low, high))
        return self._serializer.addPlaceholder(list(shape), dtype, None)

    def constant(self, values: object, dtype: int) -> object:
        array = np.asarray(values, DTYPES[dtype])
        return self._serializer.addConst(list(array.shape), dtype, array)

    def shape(self, *sizes: int) -> object:
        return self._serializer.addConst([len(sizes)], DType.SHAPE, np.array(sizes, np.int64))

    def add(
        self,
        operator: int,
        inputs: Sequence[object],
        shape: Shape,
        dtype: int,
        attribute: Attribute | None = None,
        *,
        is_output: bool = False,
        unused: Sequence[tuple[Shape, int]] = (),
    ) -> object:
        """An operator and its last result; `unused` are those before it."""
        given = TosaSerializerAttribute()
        if attribute is None:
            given.setAttribute(operator)
        else:
            attribute(given)
        make = self._serializer.addOutput if is_output else self._serializer.addIntermediate
        others = [self._serializer.addIntermediate(list(each), kind) for each, kind in unused]
        result = make(list(shape), dtype)
        names = [each.name for each in (*others, result)]
        self._serializer.addOperator(operator, [each.name for each in inputs], names, given)
        return result

    def region(self, name: str, *inputs: tuple[Shape, int]) -> list[object]:
        """Start a branch; return what goes into it."""
        self._serializer.startRegion(name, "")
        self._serializer.addBasicBlock(name)
        tensors = [self._serializer.addIntermediate(list(shape), dtype) for shape, dtype in inputs]
        for tensor in tensors:
            self._serializer.addInputTensor(tensor)
        return tensors

    def leave(self, *outputs: object) -> None:
        """Say what comes out of a branch."""
        for tensor in outputs:
            self._serializer.addOutputTensor(tensor)

    def data(self) -> bytes:
        return bytes(self._serializer.serialize())


def convolution() -> Graph:
    """int8, with a scale for each channel."""
    graph = Graph()
    random = np.random.default_rng(SEED)
    x = graph.input((1, 6, 7, 5), DType.INT8, -128, 127)
    weights = graph.constant(random.integers(-127, 127, (4, 3, 3, 5), endpoint=True), DType.INT8)
    bias = graph.constant(random.integers(-2000, 2000, 4), DType.INT32)
    zeros = [graph.constant([value], DType.INT8) for value in (3, 0)]
    sums = graph.add(
        Op.CONV2D,
        [x, weights, bias, *zeros],
        (1, 6, 7, 4),
        DType.INT32,
        lambda attribute: attribute.Conv2dAttribute([1, 1, 1, 1], [1, 1], [1, 1], False, DType.INT32),
    )
    multipliers = graph.constant([1 << 30, 1300000000, 1500000000, 1900000000], DType.INT32)
    shifts = graph.constant([40, 40, 41, 41], DType.INT8)
    graph.add(
        Op.RESCALE,
        [sums, multipliers, shifts, graph.constant([0], DType.INT32), graph.constant([-4], DType.INT8)],
        (1, 6, 7, 4),
        DType.INT8,
        lambda attribute: attribute.RescaleAttribute(True, RoundingMode.SINGLE_ROUND, True, False, False),
        is_output=True,
    )
    return graph


def choice() -> Graph:
    """Three inputs of different types and sizes: truth values, int16, and int16 that is repeated."""
    graph = Graph()
    inputs = [
        graph.input((1, 5, 6, 9), DType.BOOL, 0, 1),
        graph.input((1, 5, 6, 9), DType.INT16, -32768, 32767),
        graph.input((1, 1, 1, 9), DType.INT16, -32768, 32767),
    ]
    graph.add(Op.SELECT, inputs, (1, 5, 6, 9), DType.INT16, is_output=True)
    return graph


def branch() -> Graph:
    """The magnitude if the first input is above 0, else all bits turned over."""
    graph = Graph()
    x = graph.input((1, 1, 1), DType.INT32, -2, 2)
    y = graph.input((1, 4, 5), DType.INT32, -1000, 1000)
    above = graph.add(Op.GREATER, [x, graph.constant([[[0]]], DType.INT32)], (1, 1, 1), DType.BOOL)
    condition = graph.add(Op.RESHAPE, [above, graph.shape(1)], (1,), DType.BOOL)
    graph.add(
        Op.COND_IF,
        [condition, y],
        (1, 4, 5),
        DType.INT32,
        lambda attribute: attribute.CondIfAttribute("then", "else"),
        is_output=True,
    )
    for name, operator in (("then", Op.ABS), ("else", Op.BITWISE_NOT)):
        (value,) = graph.region(name, ((1, 4, 5), DType.INT32))
        graph.leave(graph.add(operator, [value], (1, 4, 5), DType.INT32))
    return graph


def loop() -> Graph:
    """As many halvings as the low bits of the first input say: from none to three."""
    graph = Graph()
    x = graph.input((1,), DType.INT32, -(1 << 31), (1 << 31) - 1)
    y = graph.input((1, 4, 5), DType.INT32, -1000, 1000)
    count = graph.add(Op.BITWISE_AND, [x, graph.constant([3], DType.INT32)], (1,), DType.INT32)
    graph.add(
        Op.WHILE_LOOP,
        [count, y],
        (1, 4, 5),
        DType.INT32,
        lambda attribute: attribute.WhileLoopAttribute("again", "once"),
        is_output=True,
        unused=[((1,), DType.INT32)],
    )
    left, _ = graph.region("again", ((1,), DType.INT32), ((1, 4, 5), DType.INT32))
    graph.leave(graph.add(Op.GREATER, [left, graph.constant([0], DType.INT32)], (1,), DType.BOOL))
    left, value = graph.region("once", ((1,), DType.INT32), ((1, 4, 5), DType.INT32))
    less = graph.add(Op.SUB, [left, graph.constant([1], DType.INT32)], (1,), DType.INT32)
    half = graph.add(
        Op.ARITHMETIC_RIGHT_SHIFT,
        [value, graph.constant([[[1]]], DType.INT32)],
        (1, 4, 5),
        DType.INT32,
        lambda attribute: attribute.ArithmeticRightShiftAttribute(False),
    )
    graph.leave(less, half)
    return graph


def samples(graph: Graph) -> list[np.ndarray]:
    """For each input its samples, along the first dimension."""
    random = np.random.default_rng(SEED)
    return [
        random.integers(low, high, (SAMPLES, *shape), np.int64, endpoint=True).astype(DTYPES[dtype])
        for shape, dtype, low, high in graph.inputs
    ]


def main() -> None:
    """Write every graph with its samples."""
    for build in (convolution, choice, branch, loop):
        graph = build()
        data, inputs = graph.data(), samples(graph)
        results = [
            tosa_reference_model.run(data, list(sample), verbosity="NONE")
            for sample in zip(*inputs, strict=True)
        ]
        if {status for _, status in results} != {tosa_reference_model.GraphStatus.TOSA_VALID}:
            raise ValueError(f"{build.__name__} is not valid")
        outputs = zip(*(arrays for arrays, _ in results), strict=True)
        folder = Path(__file__).parent
        (folder / f"{build.__name__}.tosa").write_bytes(data)
        np.savez_compressed(
            folder / f"{build.__name__}.npz",
            **{f"input{index}": column for index, column in enumerate(inputs)},
            **{f"output{index}": np.stack(column) for index, column in enumerate(outputs)},
        )


if __name__ == "__main__":
    main()
