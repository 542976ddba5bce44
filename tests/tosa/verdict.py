"""What becomes of a case: exact, or in one line what keeps it from being that."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.errors import ModelError

from ..npu.proof.verdict import EXACT
from .corpus import Array, Case

_PLACE = re.compile(r" (?:at|from) 0x[0-9a-f]+")
"""Offsets in the stream and addresses, which are others for another MAC count."""


def verdict(case: Case, place: Callable[[], Any]) -> str:
    """What becomes of a case whose graph `place` compiles and puts into memory."""
    try:
        network = place()
    except ModelError as error:
        return f"not compiled: {_cause(error)}"
    except AssertionError as error:  # the placed stream has been looked through for misuse of memory
        return f"refused by the memory checks: {_PLACE.sub('', str(error).splitlines()[0])}"
    differences = []
    for sample in range(case.samples):
        network.fill([each[sample].tobytes() for each in case.inputs])
        fault = network.execute().fault
        if fault is not None:
            return f"{fault.kind.name.lower()} fault: {fault.detail}"
        results = zip(network.outputs(), case.outputs, strict=True)
        differences += [_difference(output, expected[sample]) for output, expected in results]
    return _summary(np.concatenate(differences))


def _cause(error: ModelError) -> str:
    """What the compiler says, or else the message without the graph's name."""
    reasons = [line.split("Error: ", 1)[1] for line in error.evidence if "Error: " in line]
    return reasons[-1] if reasons else str(error).split(": ", 1)[-1]


def _difference(output: bytes, expected: Array) -> Array:
    # A bool is a byte, and has to be 0 or 1 as the reference has it.
    dtype = np.int8 if expected.dtype == np.bool_ else expected.dtype
    return np.abs(np.frombuffer(output, dtype).astype(np.int64) - expected.ravel().astype(np.int64))


def _summary(differences: Array) -> str:
    wrong = np.count_nonzero(differences)
    if not wrong:
        return EXACT
    return f"differs by up to {differences.max()} in {wrong} of {differences.size} elements"
