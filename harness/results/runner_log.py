"""What an ExecuTorch runner on Linux prints: the NPU's cycles, the time and the outputs of its inferences.

Formats, in pytorch/executorch: backends/arm/runtime/EthosUBackend_Cortex_A.cpp (cycles, in a build with
logging and with the cycle counter enabled), examples/portable/executor_runner/executor_runner.cpp
(iterations: wall time of `Method::execute()`) and extension/evalue_util/print_evalue.cpp (outputs).
Whatever else is printed is passed over; a line of these that is missing, damaged or out of order is an
error, and never a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import ConsoleError
from harness.models.compiled import Tensor

_CYCLES = "Ethos-U Linux delegate cycle counter:"
_ITERATION = re.compile(r"(?<!\w)Iteration \d")
# Anchored at the end: behind a number that something else has broken into there may be more of it.
_CYCLES_LINE = re.compile(rf"{_CYCLES} (?P<cycles>\d+)\s*$")
_ITERATION_LINE = re.compile(r"(?<!\w)Iteration (?P<number>\d+) of (?P<all>\d+): (?P<ms>\d+\.\d{6}) ms\s*$")
_OUTPUT = re.compile(
    r"^OutputX (?P<index>\d+): tensor\(sizes=\[(?P<sizes>[\d,\s]*)\], \[(?P<items>[^\]]*)\]\)$", re.MULTILINE
)
_INTEGER = re.compile(r"-?\d+")
_ELLIPSIS = "..."
_LOGGING_HINT = (
    "the runner's lines come from a build with EXECUTORCH_ENABLE_LOGGING at level Info, and with the "
    "delegate's cycle counter enabled"
)
_FILES_HINT = "give the runner a place for its files, such as --output_file {output}: those have every byte"


@dataclass(frozen=True)
class RunnerInference:
    """One inference, as the runner has logged it."""

    index: int  #: from 0
    npu_cycles: int
    wall_ms: float  #: from entry to return of `Method::execute()`, the wait for the NPU included


def read_runner_log(text: str, inferences: int) -> tuple[RunnerInference, ...]:
    """The inferences in a runner's output, which must be so many.

    Raises ConsoleError for one that lacks a line, a line that is damaged, and a cycle counter of zero.
    """
    cycles: list[int] = []
    found: list[RunnerInference] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if _CYCLES in line:
            cycles.append(_cycles(line, number))
        elif _ITERATION.search(line):
            found.append(_iteration(line, number, cycles, len(found), inferences))
            cycles = []
    if cycles or len(found) != inferences:
        raise ConsoleError(
            f"the runner logged {len(found)} of {inferences} inferences",
            evidence=_tail(text),
            hint=_LOGGING_HINT,
        )
    return tuple(found)


def _cycles(line: str, number: int) -> int:
    match = _CYCLES_LINE.search(line)
    if match is None:
        raise ConsoleError(f"line {number} of the runner's output is damaged: {line.strip()!r}")
    if (cycles := int(match["cycles"])) == 0:
        raise ConsoleError(
            f"line {number} of the runner's output says that an inference took 0 NPU cycles",
            hint="the NPU's cycle counter is not enabled in the runner or in the kernel's driver",
        )
    return cycles


def _iteration(line: str, number: int, cycles: list[int], done: int, inferences: int) -> RunnerInference:
    match = _ITERATION_LINE.search(line)
    if match is None:
        raise ConsoleError(f"line {number} of the runner's output is damaged: {line.strip()!r}")
    if (int(match["number"]), int(match["all"])) != (done + 1, inferences):
        raise ConsoleError(
            f"line {number} of the runner's output is {line.strip()!r}, where iteration {done + 1} of "
            f"{inferences} was due"
        )
    if len(cycles) != 1:
        raise ConsoleError(
            f"the runner logged {len(cycles)} cycle counters for iteration {done + 1}, where one was due",
            hint=_LOGGING_HINT,
        )
    return RunnerInference(done, cycles[0], float(match["ms"]))


def printed_outputs(text: str, tensors: Sequence[Tensor]) -> tuple[bytes, ...]:
    """The outputs that a runner has printed, little-endian, one for each tensor.

    Raises ConsoleError when one is missing or abbreviated, or when its elements are not printed exactly.
    """
    printed = {int(match["index"]): match for match in _OUTPUT.finditer(text)}
    if sorted(printed) != list(range(len(tensors))):
        raise ConsoleError(
            f"the runner printed the outputs {sorted(printed)}, and the model has {len(tensors)}",
            evidence=_tail(text),
            hint=_FILES_HINT,
        )
    return tuple(_printed(printed[index], tensor) for index, tensor in enumerate(tensors))


def _printed(match: re.Match[str], tensor: Tensor) -> bytes:
    items = [item.strip() for item in match["items"].split(",") if item.strip()]
    where = f"the runner's output {match['index']} ({tensor.name})"
    if any(_ELLIPSIS in item for item in items):
        raise ConsoleError(f"{where} is printed without its middle", hint=_FILES_HINT)
    if not all(map(_INTEGER.fullmatch, items)):
        raise ConsoleError(f"{where} is not printed in integers, and so not exactly", hint=_FILES_HINT)
    if len(items) != math.prod(tensor.shape):
        raise ConsoleError(f"{where} has {len(items)} elements, and the model's {math.prod(tensor.shape)}")
    limits = np.iinfo(tensor.dtype)
    values = np.array([int(item) for item in items], np.int64)
    if values.size and not (limits.min <= values.min() and values.max() <= limits.max):
        raise ConsoleError(f"{where} has elements that are no {tensor.dtype}")
    return values.astype(np.dtype(tensor.dtype).newbyteorder("<")).tobytes()


def _tail(text: str, lines: int = 8) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip())[-lines:]
