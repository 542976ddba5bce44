"""What becomes of a case: exact, or in one line what keeps it from being that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import ModelError

from .network import Operator, Tensor, write_model

EXACT = "exact"
SAMPLES = 4
WIDE_LIMIT = 30000
"""Bound of 32-bit inputs: no sum or product of two leaves 32 bits, which TensorFlow Lite does not define."""

Array = NDArray[Any]


def samples(operator: Operator) -> list[list[Array]]:
    """Return seeded inputs: the lowest and the highest numbers, then random ones."""
    generator = np.random.default_rng(SAMPLES)
    return [[_values(tensor, index, generator) for tensor in operator.arguments] for index in range(SAMPLES)]


def _values(tensor: Tensor, index: int, generator: np.random.Generator) -> Array:
    if tensor.within is not None:
        low, high = tensor.within
    elif tensor.dtype == "bool":
        low, high = 0, 1
    else:
        limits = np.iinfo(tensor.dtype)
        low, high = max(limits.min, -WIDE_LIMIT) if limits.bits > 16 else limits.min, limits.max
        high = min(high, WIDE_LIMIT) if limits.bits > 16 else high
    values = generator.integers(low, high, tensor.shape, endpoint=True)
    if index < 2:
        values[...] = (low, high)[index]
    return values.astype(tensor.dtype)


def reference(operator: Operator, inputs: Sequence[Sequence[Array]]) -> list[list[Array]] | None:
    """Return what tflite-micro computes, or else the operator's definition; None without either."""
    from tflite_micro import runtime

    try:
        interpreter = runtime.Interpreter.from_bytes(write_model(operator), arena_size=1 << 21)
        return [_infer(interpreter, sample, len(operator.outputs)) for sample in inputs]
    except RuntimeError:  # it has no such operator, or not for these types
        if operator.definition is None:
            return None
    return [[np.asarray(operator.definition(*sample))] for sample in inputs]


def _infer(interpreter: Any, sample: Sequence[Array], outputs: int) -> list[Array]:
    interpreter.reset()
    for index, values in enumerate(sample):
        interpreter.set_input(values, index)
    interpreter.invoke()
    return [np.array(interpreter.get_output(index)) for index in range(outputs)]


def verdict(operator: Operator, place: Callable[[], Any]) -> str:
    """Return what becomes of an operator that `place` compiles and puts into memory."""
    try:
        network = place()
    except ModelError as error:
        return f"not compiled: {_cause(error)}"
    except AssertionError as error:  # the placed stream has been looked through for misuse of memory
        return f"refused by the memory checks: {str(error).splitlines()[0]}"
    inputs = samples(operator)
    expected = reference(operator, inputs)
    differences = []
    for sample, results in zip(inputs, expected or [None] * len(inputs), strict=True):
        network.fill([values.tobytes() for values in sample])
        fault = network.execute().fault
        if fault is not None:
            return f"{fault.kind.name.lower()} fault: {fault.detail}"
        computed = [
            np.frombuffer(output, tensor.dtype)
            for output, tensor in zip(network.outputs(), operator.outputs, strict=True)
        ]
        if results is not None:
            differences += [_difference(*pair) for pair in zip(computed, results, strict=True)]
    if expected is None:
        return "runs, with no reference to compare with"
    return _summary(np.concatenate(differences))


def _cause(error: ModelError) -> str:
    """Return the message without the network's name, or what Vela gives as its reason."""
    reasons = [line for line in error.evidence if "emantics" in line]
    return str((reasons or [str(error).split(": ", 1)[-1]])[0])


def _difference(computed: Array, expected: Array) -> NDArray[np.int64]:
    return np.abs(computed.astype(np.int64) - expected.ravel().astype(np.int64))


def _summary(differences: NDArray[np.int64]) -> str:
    wrong = np.count_nonzero(differences)
    if not wrong:
        return EXACT
    return f"differs by up to {differences.max()} in {wrong} of {differences.size} elements"
