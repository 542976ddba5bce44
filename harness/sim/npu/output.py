"""The output stage: what every operation's accumulators go through on their way to the OFM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.activation import Lut, lut_from_registers
from harness.sim.npu.faults import CommandError
from harness.sim.npu.feature_map import Chained, Elements, InMemory, Shape, element_type, stored, zero_point
from harness.sim.npu.machine import Machine
from harness.sim.npu.opcodes import AccInput, AccOutput, ClipRange, Reverse, ScaleMode, Transpose
from harness.sim.npu.registers import Registers
from harness.sim.npu.scaling import Scale

Int = NDArray[np.int64]

_AXES = {"H": 0, "W": 1, "C": 2}

STRIP_ELEMENTS = 1 << 14
"""How many accumulators are scaled at a time: what is computed on the way then stays in the cache, and is not
so large that the C library takes fresh pages from the system for it."""

_CLIP_BITS = 16  #: of ACTIVATION_MIN and ACTIVATION_MAX
_UNBOUNDED = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)

_ACCUMULATORS = 8
"""The accumulators that one operation leaves to the next: a chaining buffer beside those of OFM_REGION."""


@dataclass(frozen=True)
class OutputStage:
    """Scale, add the zero point, clip, look up, saturate, permute and store, in this order.

    What is stored without having been clipped keeps its lower bits.
    """

    shape: Shape  #: of the accumulators: before the transposition
    scale: Scale  #: OFM_SCALE; an operation with one scale per channel brings its own
    zero_point: int
    clip: tuple[int, int]
    lut: Lut | None
    transpose: tuple[int, int, int]
    reverse: int | None
    ofm: InMemory | Chained
    resumes: bool  #: goes on with the accumulators that the operation before left
    ends: bool  #: False leaves the accumulators to the next operation, and writes nothing

    def resume(self, machine: Machine, values: Int, combine: Callable[[Int, Int], Int] = np.add) -> Int:
        """Return `values`, combined with earlier accumulators where there are any.  Raises CommandError."""
        if not self.resumes:
            return values
        return combine(machine.chained(_ACCUMULATORS, self.shape, values.dtype).astype(np.int64), values)

    def finish(
        self,
        machine: Machine,
        accumulators: Int,
        largest: int | None = None,
        per_channel: Scale | None = None,
    ) -> None:
        """Turn accumulators into output elements.  Raises CommandError, AccessFault.

        `largest` is a bound of their size, where one is known.
        """
        if not self.ends:
            machine.chain(_ACCUMULATORS, accumulators)
            return
        scale = per_channel or self.scale
        rows = STRIP_ELEMENTS // (self.shape[1] * self.shape[2]) or 1
        elements: Elements
        if rows >= self.shape[0]:
            elements = self._elements(machine, scale.apply(accumulators, largest))
        else:
            elements = np.empty(self.shape, self.ofm.dtype)
            for first in range(0, self.shape[0], rows):
                strip = slice(first, first + rows)
                elements[strip] = self._elements(machine, scale.apply(accumulators[strip], largest))
        machine.note_result(elements)
        if self.reverse is not None:
            elements = np.flip(elements, self.reverse)
        self.ofm.write(machine, elements.transpose(self.transpose))

    def _elements(self, machine: Machine, scaled: Int) -> Int:
        """Do to scaled accumulators what is done to each of them by itself."""
        zero_point, low, high = self._numbers
        values = scaled + zero_point
        np.maximum(values, low, out=values)
        np.minimum(values, high, out=values)
        if self.lut is not None:
            values = self.lut.apply(machine, values)
            limits = np.iinfo(self.ofm.dtype)
            np.clip(values, limits.min, limits.max, out=values)
        return values

    @cached_property
    def _numbers(self) -> tuple[Int, Int, Int]:
        """Zero point and bounds as numpy has them: it converts a Python number at every call."""
        low, high = self.clip
        return np.array(self.zero_point), np.array(low), np.array(high)

    @property
    def swaps_rows(self) -> bool:
        """Whether the OFM write exchanges height and width, or goes backwards along the width."""
        return self.transpose[:2] == (_AXES["W"], _AXES["H"]) or self.reverse == _AXES["W"]


def output_stage(registers: Registers, *, per_channel: bool) -> OutputStage:
    """Read the registers of an output stage whose scale comes per channel or from OFM_SCALE.

    Raises CommandError, also when OFM_PRECISION asks for the other kind of scale.
    """
    if scales_per_channel(registers) is not per_channel:
        kind = "per_channel" if per_channel else "global"
        raise CommandError(f"this operation is modelled with {kind} scales only")
    shape = ofm_shape(registers)
    lut = lut_from_registers(registers)
    order = registers.enum(Transpose, "OFM_PRECISION", "transpose")
    axes = (_AXES[order.name[0]], _AXES[order.name[1]], _AXES[order.name[2]])
    reverse = registers.enum(Reverse, "OFM_PRECISION", "reverse")
    if order is not Transpose.HWC and reverse is not Reverse.NONE:
        raise CommandError("transposing and reversing an OFM at once is not modelled")
    ends = registers.enum(AccOutput, "ACC_FORMAT", "output") is AccOutput.ENABLE
    written = shape[axes[0]], shape[axes[1]], shape[axes[2]]
    return OutputStage(
        shape,
        Scale.from_register(registers, "OFM_SCALE"),
        zero_point(registers, "OFM"),
        _clip(registers, lut),
        lut,
        axes,
        None if reverse is Reverse.NONE else _AXES[reverse.name],
        stored(registers, "OFM", written)
        if ends
        else Chained(written, element_type(registers, "OFM"), _ACCUMULATORS),
        registers.enum(AccInput, "ACC_FORMAT", "input") is AccInput.KEEP,
        ends,
    )


def scales_per_channel(registers: Registers) -> bool:
    """Return whether OFM_PRECISION asks for a scale for each channel.  Raises CommandError."""
    return registers.enum(ScaleMode, "OFM_PRECISION", "scale_mode") is ScaleMode.PER_CHANNEL


def ofm_shape(registers: Registers) -> Shape:
    """Return height, width and depth of the OFM before its transposition."""
    return (
        registers.value("OFM_HEIGHT_M1") + 1,
        registers.value("OFM_WIDTH_M1") + 1,
        registers.value("OFM_DEPTH_M1") + 1,
    )


def _clip(registers: Registers, lut: Lut | None) -> tuple[int, int]:
    """Return the bounds of the values before the table look-up.

    Without a table these also saturate to the element type, but for elements of up to 16 bits without a clip
    range: that is how the compiler has casts and shifts drop the higher bits (Vela 5.2, "to disable clipping"
    in regor/compiler/graphir_optimiser.cpp).  What becomes of a 32-bit result that overflows is not public.
    A table that takes more bits than the element type has is only used without any closer bounds.
    """
    limits = np.iinfo(element_type(registers, "OFM"))
    low, high = int(limits.min), int(limits.max)
    clips = registers.enum(ClipRange, "ACTIVATION", "clip_range") is ClipRange.B16
    if not clips and lut is None and limits.bits <= _CLIP_BITS:
        return _UNBOUNDED
    if clips:
        signed = bool(registers.value("OFM_PRECISION", "signed"))
        read = registers.signed if signed else registers.value
        low, high = max(low, read("ACTIVATION_MIN")), min(high, read("ACTIVATION_MAX"))
        if low > high:
            raise CommandError(f"ACTIVATION_MIN {low} is above ACTIVATION_MAX {high}")
    if lut is not None and lut.kind.limits[1] > limits.max:
        if (low, high) != (limits.min, limits.max):
            raise CommandError("a clip range in front of this activation is not modelled")
        return lut.kind.limits
    return low, high
