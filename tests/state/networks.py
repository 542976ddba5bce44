"""Small networks that keep state: a recurrent layer, and an accumulator with variables by name."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import tflite

from harness.models.catalog import ModelKind, ModelSource
from harness.models.seeded import seeded_bytes
from harness.models.tflite_writer import GraphSpec, OperatorSpec, TensorSpec, write_tflite

INPUT, WEIGHT, HIDDEN, CELL, GATE = (Fraction(1, 1 << bits) for bits in (6, 7, 7, 11, 12))
HIDDEN_ZERO_POINT = 4
GATES = 4
SHAPE = (1, 4, 4, 8)
ABSENT = -1


def lstm(*, batch: int = 1, steps: int = 3, units: int = 8, time_major: bool = False) -> ModelSource:
    """A network of one LSTM: hidden state int8 with a zero point, cell state int16."""
    tensors: list[TensorSpec] = []

    def add(name: str, shape: tuple[int, ...], dtype: str, scale: Fraction, **rest: object) -> int:
        tensors.append(TensorSpec(name, shape, dtype, (scale,), **rest))  # type: ignore[arg-type]
        return len(tensors) - 1

    def weights(name: str) -> list[int]:
        return [
            add(f"{name}{gate}", (units, units), "int8", WEIGHT, data=seeded_bytes(f"{name}{gate}", units**2))
            for gate in range(GATES)
        ]

    shape = (steps, batch, units) if time_major else (batch, steps, units)
    values = np.frombuffer(seeded_bytes("bias", GATES * units), np.int8).astype("<i4") * 8
    given = add("input", shape, "int8", INPUT, zero_point=-3)
    kernels, recurrent = weights("kernel"), weights("recurrent")
    bias = [
        add(f"bias{gate}", (units,), "int32", INPUT * WEIGHT, data=part.tobytes())
        for gate, part in enumerate(np.split(values, GATES))
    ]
    state = [
        add("hidden", (batch, units), "int8", HIDDEN, zero_point=HIDDEN_ZERO_POINT, is_variable=True),
        add("cell", (batch, units), "int16", CELL, is_variable=True),
    ]
    inside = [add(f"gate{gate}", (0,), "int16", GATE) for gate in range(GATES)]
    inside.append(add("output gate", (0,), "int8", HIDDEN, zero_point=HIDDEN_ZERO_POINT))
    output = add("output", shape, "int8", HIDDEN, zero_point=HIDDEN_ZERO_POINT)
    # Without peepholes, projection and layer normalisation.
    inputs = [given, *kernels, *recurrent, *3 * [ABSENT], *bias, *2 * [ABSENT], *state, *4 * [ABSENT]]
    options = {
        "FusedActivationFunction": tflite.ActivationFunctionType.TANH,
        "CellClip": 10.0,
        "TimeMajor": time_major,
    }
    layer = OperatorSpec(
        "UNIDIRECTIONAL_SEQUENCE_LSTM", tuple(inputs), (output,), options, intermediates=tuple(inside)
    )
    return _source("recurrent", tensors, [layer], given, output)


def accumulator(dtype: str = "int8", zero_points: Sequence[int] = (5, -7)) -> ModelSource:
    """A network that adds its input to one variable after another, and has the last sum as output."""
    tensors = [TensorSpec("input", SHAPE, dtype, (INPUT,), zero_points[0])]
    operators: list[OperatorSpec] = []

    def add(name: str, zero_point: int) -> int:
        tensors.append(TensorSpec(name, SHAPE, dtype, (INPUT,), zero_point))
        return len(tensors) - 1

    def apply(kind: str, inputs: tuple[int, ...], outputs: tuple[int, ...], **options: str | int) -> None:
        operators.append(OperatorSpec(kind, inputs, outputs, options))

    total = 0
    for number, zero_point in enumerate(zero_points):
        tensors.append(TensorSpec(f"handle{number}", (1,), "resource"))
        handle = len(tensors) - 1
        before, total_before, total = add(f"before{number}", zero_point), total, add("total", zero_point)
        apply("VAR_HANDLE", (), (handle,), SharedName=f"sum{number}", Container="")
        apply("READ_VARIABLE", (handle,), (before,))
        apply("ADD", (total_before, before), (total,), FusedActivationFunction=0)
        apply("ASSIGN_VARIABLE", (handle, total), ())
    output = add("output", 0)
    apply("ADD", (total, before), (output,), FusedActivationFunction=0)
    return _source(f"accumulator-{dtype}", tensors, operators, 0, output)


def _source(
    name: str, tensors: list[TensorSpec], operators: list[OperatorSpec], given: int, output: int
) -> ModelSource:
    graph = GraphSpec(name, tuple(tensors), tuple(operators), (given,), (output,))
    return ModelSource(name, write_tflite(graph), ModelKind.TFLITE)
