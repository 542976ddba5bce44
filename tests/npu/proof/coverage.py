"""Which encodings the proof exercises: every value of a small field, and of a number whether it is large.

A line of the coverage is `COMMAND.field value`.  Fields of up to six bits are listed by value, by name where
the value has one; of the others it is told whether zero, small (below 256) and large numbers occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from pathlib import Path

import numpy as np

from harness.models.catalog import REFERENCE_NETWORKS, ModelKind, ModelSource, load_model
from harness.models.compiled import CompiledModel
from harness.models.vela import compile_model
from harness.sim.npu import opcodes, parse_payload
from harness.sim.npu.opcodes import CMD0, CMD1, Field
from harness.sim.npu.stream import decode_command

from ...tosa.corpus import read_corpus
from ...tosa.listed import LISTED as TOSA_LISTED
from .cases import CASES, macs
from .listed import LISTED
from .network import write_model

FILE = Path(__file__).with_name("coverage.txt")
_TESTS = Path(__file__).parents[2]
REFERENCE_MACS = 256
COMMAND = "python -m tests.npu.proof"  #: rewrites FILE and the document

_LISTED_BITS = 6
_SMALL = 256
_PRECISION = {"precision": opcodes.Precision, "format": opcodes.Format, "storage": opcodes.Storage}
_SCALE = {"rounding": opcodes.Rounding}

NAMES: dict[str, dict[str, type[IntEnum]]] = {
    "OP_POOL": {"mode": opcodes.Pooling},
    "OP_ELEMENTWISE": {"mode": opcodes.Elementwise},
    "OP_RESIZE": {"mode": opcodes.Resize},
    "OP_BRANCH": {"condition": opcodes.Condition},
    "IFM_PRECISION": _PRECISION,
    "IFM2_PRECISION": _PRECISION,
    "OFM_PRECISION": _PRECISION
    | {
        "scale_mode": opcodes.ScaleMode,
        "reverse": opcodes.Reverse,
        "transpose": opcodes.Transpose,
    },
    "IFM_UPSCALE": {"value": opcodes.Upscale},
    "IFM_SCALE": _SCALE,
    "IFM2_SCALE": _SCALE,
    "OFM_SCALE": _SCALE,
    "KERNEL_STRIDE": {"weight_order": opcodes.WeightOrder, "decomposition": opcodes.Decomposition},
    "ACC_FORMAT": {
        "format": opcodes.AccFormat,
        "input": opcodes.AccInput,
        "output": opcodes.AccOutput,
    },
    "ACTIVATION": {"function": opcodes.Activation, "clip_range": opcodes.ClipRange},
    "WEIGHT_FORMAT": {"format": opcodes.WeightFormat},
    "DMA0_SRC_REGION": {"mode": opcodes.RegionMode, "stride_mode": opcodes.StrideMode},
    "DMA0_DST_REGION": {"mode": opcodes.RegionMode},
}
"""Fields whose values have names."""

Compile = Callable[[str, bytes, int], CompiledModel]


def exercised(compiled: Compile) -> set[str]:
    """Return the coverage of all cases that compile, the reference networks and all that was a TOSA graph."""
    networks = [
        (name, write_model(operator), macs(name))
        for name, operator in CASES.items()
        if not LISTED.get(name, "").startswith("not compiled")
    ]
    networks += [(name, load_model(name).data, REFERENCE_MACS) for name in REFERENCE_NETWORKS]
    streams = [compiled(*network).command_stream for network in networks]
    streams += [compile_model(source).command_stream for source in _tosa_sources()]
    return {line for stream in streams for line in _lines(parse_payload(stream).stream)}


def _tosa_sources() -> Iterable[ModelSource]:
    """Yield the corpus of single operators, the graphs with branches, and ExecuTorch's programs."""
    for name, case in read_corpus().items():
        if not TOSA_LISTED.get(name, "").startswith("not compiled"):
            yield ModelSource(name, case.graph, ModelKind.TOSA)
    for path in (*_TESTS.glob("models/tosa/*.tosa"), *_TESTS.glob("executorch/programs/*.pte")):
        yield load_model(path)


def _lines(stream: bytes) -> Iterable[str]:
    words = np.frombuffer(stream, "<u4")
    index = 0
    while index < len(words):  # in the order of the stream, so that both ways of a branch count
        command, index = decode_command(words, index)
        if not command.fields:
            yield command.name
        for field, value in command.fields.items():
            yield f"{command.name}.{field} {_word(command.name, field, value)}"


def is_listed(name: str, field: Field) -> bool:
    """Return whether a field's coverage is its values."""
    return field.width <= _LISTED_BITS and name != "shift"


def _word(command: str, field: str, value: int) -> str:
    bits = _FIELDS[command][field]
    if is_listed(field, bits):
        kind = NAMES.get(command, {}).get(field)
        return kind(value).name if kind else str(value)
    return "zero" if value == 0 else "small" if value < _SMALL else "large"


_FIELDS = {encoding.name: encoding.fields for table in (CMD0, CMD1) for encoding in table.values()}


def never_exercised(lines: Iterable[str]) -> list[str]:
    """Return what the proof leaves out: whole commands, and named values."""
    seen = set(lines)
    commands = {line.split(".")[0].split(" ")[0] for line in seen}
    missing = [name for name in _FIELDS if name not in commands]
    named = [
        f"{command}.{field} {member.name}"
        for command, fields in NAMES.items()
        if command in commands
        for field, kind in fields.items()
        for member in kind
    ]
    return missing + [line for line in named if line not in seen]
