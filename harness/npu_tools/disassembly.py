"""A command stream in words: one instruction per command, its fields by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from harness.errors import ModelError
from harness.sim.npu import CommandError
from harness.sim.npu import opcodes as op
from harness.sim.npu.stream import Command, decode_command

OPERATIONS = {
    "OP_CONV": "CONV",
    "OP_DEPTHWISE": "DEPTHWISE",
    "OP_POOL": "POOL",
    "OP_ELEMENTWISE": "ELEMENTWISE",
    "OP_RESIZE": "RESIZE",
    "OP_DMA_START": "DMA",
}
"""The commands that start work, and what the work is called."""

UNDEFINED = "?"  #: before a value that the field's enumeration does not have

_PRECISION: dict[str, type[IntEnum]] = {
    "precision": op.Precision,
    "format": op.Format,
    "storage": op.Storage,
}
_ENUMERATIONS: dict[str, dict[str, type[IntEnum]]] = {
    "OP_POOL": {"mode": op.Pooling},
    "OP_ELEMENTWISE": {"mode": op.Elementwise},
    "OP_RESIZE": {"mode": op.Resize},
    "OP_BRANCH": {"condition": op.Condition},
    "IFM_PRECISION": _PRECISION,
    "IFM2_PRECISION": _PRECISION,
    "OFM_PRECISION": {
        **_PRECISION,
        "scale_mode": op.ScaleMode,
        "reverse": op.Reverse,
        "transpose": op.Transpose,
    },
    "IFM_UPSCALE": {"value": op.Upscale},
    "KERNEL_STRIDE": {"weight_order": op.WeightOrder, "decomposition": op.Decomposition},
    "ACC_FORMAT": {"format": op.AccFormat, "input": op.AccInput, "output": op.AccOutput},
    "ACTIVATION": {"function": op.Activation, "clip_range": op.ClipRange},
    "WEIGHT_FORMAT": {"format": op.WeightFormat},
    "OFM_SCALE": {"rounding": op.Rounding},
    "IFM_SCALE": {"rounding": op.Rounding},
    "IFM2_SCALE": {"rounding": op.Rounding},
    "DMA0_SRC_REGION": {"mode": op.RegionMode, "stride_mode": op.StrideMode},
    "DMA0_DST_REGION": {"mode": op.RegionMode},
}
"""The fields whose values have names."""

_SIGNED_BITS = {
    "IFM_ZERO_POINT": 16,
    "IFM2_ZERO_POINT": 16,
    "OFM_ZERO_POINT": 16,
    "ACTIVATION_MIN": 16,
    "ACTIVATION_MAX": 16,
    "RESIZE_X_OFFSET": 12,
    "RESIZE_Y_OFFSET": 12,
    "OP_SCALAR": 32,
}
"""Registers that may hold negative numbers, and their width."""

_HEXADECIMAL_BITS = 32  #: addresses, strides and lengths are at least this wide


@dataclass(frozen=True)
class Instruction:
    """One command in words."""

    offset: int  #: bytes from the start of the stream
    name: str
    fields: tuple[tuple[str, str], ...]
    operation: str = ""  #: the work it starts, such as "POOL MAX"; empty for every other command

    def __str__(self) -> str:
        only_value = [text for field, text in self.fields if field == "value"]
        words = only_value or [f"{field}={text}" for field, text in self.fields]
        return f"{self.offset:#07x}  {self.name:<20} {' '.join(words)}".rstrip()


def disassemble(name: str, stream: bytes) -> Iterator[Instruction]:
    """Yield every command of a stream, in the order in which they lie there; jumps are not followed.

    Raises ModelError, which names the model and the offset, for a word that is no command.
    """
    words = np.frombuffer(stream, dtype="<u4", count=len(stream) // 4)
    index = 0
    while index < len(words):
        try:
            command, following = decode_command(words, index)
        except CommandError as error:
            raise ModelError(
                f"{name}: the word {int(words[index]):#010x} at stream offset {4 * index:#x}: {error}"
            ) from error
        yield _instruction(command)
        index = following


def by_operation(instructions: Iterable[Instruction]) -> Iterator[list[Instruction]]:
    """Cut a stream after each command that starts work; what follows the last one is a part of its own."""
    part: list[Instruction] = []
    for instruction in instructions:
        part.append(instruction)
        if instruction.operation:
            yield part
            part = []
    if part:
        yield part


def operation_name(command: Command) -> str:
    """The work that a command starts, with its mode; empty when it starts none."""
    kind = OPERATIONS.get(command.name, "")
    mode = command.fields.get("mode") if kind else None
    return kind if mode is None else f"{kind} {_text(command.name, 'mode', mode, 0)}"


def _instruction(command: Command) -> Instruction:
    widths = command.encoding.fields
    fields = tuple(
        (field, _text(command.name, field, value, widths[field].width))
        for field, value in command.fields.items()
    )
    return Instruction(command.offset, command.name, fields, operation_name(command))


def _text(register: str, field: str, value: int, width: int) -> str:
    if enumeration := _ENUMERATIONS.get(register, {}).get(field):
        names = {member.value: member.name for member in enumeration}
        return names.get(value, f"{UNDEFINED}{value}")
    if field == "microblock":
        sizes = dict(enumerate(op.MICROBLOCKS))
        return "x".join(map(str, sizes[value])) if value in sizes else f"{UNDEFINED}{value}"
    bits = _SIGNED_BITS.get(register)
    if bits is not None:
        # Whether these are signed depends on the precision of the operation: both readings are shown.
        return f"{value} ({value - (1 << bits)})" if value >> (bits - 1) else str(value)
    return f"{value:#x}" if width >= _HEXADECIMAL_BITS else str(value)
