"""Table look-up: the activation functions that the output stage reads from the table RAM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import CommandError
from harness.sim.npu.machine import LUT_BYTES, Machine
from harness.sim.npu.opcodes import Activation, Rounding
from harness.sim.npu.registers import Registers
from harness.sim.npu.scaling import Shift

Int = NDArray[np.int64]


@dataclass(frozen=True)
class Direct:
    """A table with an entry for every 8-bit value, the lowest value first."""

    index: type[np.integer]
    entry: str  #: numpy type

    @property
    def limits(self) -> tuple[int, int]:
        """The lowest and highest value that the table is read with; values outside count as these."""
        return int(np.iinfo(self.index).min), int(np.iinfo(self.index).max)

    @property
    def size(self) -> int:
        """Bytes of the table."""
        return 256 * np.dtype(self.entry).itemsize

    def look_up(self, table: NDArray[np.uint8], values: Int) -> Int:
        """Return the entries."""
        return table.view(self.entry).astype(np.int64)[values - self.limits[0]]


@dataclass(frozen=True)
class Interpolated:
    """A table of 512 lines: the top bits of a value choose one, the others say how far to go along it.

    An entry is the line's height in its low, its slope in its high 16 bits (Vela 5.2, lut_util.hpp).
    """

    fraction_bits: int
    shift: Shift  #: from the line's height, in units of the fraction's last bit, to the output
    offset: int = 0  #: added to the output

    size = LUT_BYTES

    @property
    def limits(self) -> tuple[int, int]:
        """The lowest and highest value that the table is read with; values outside count as these."""
        half = LUT_BYTES // 8 << self.fraction_bits
        return -half, half - 1

    def look_up(self, table: NDArray[np.uint8], values: Int) -> Int:
        """Return points on the lines."""
        lines = table.view("<i2").astype(np.int64).reshape(-1, 2)
        base, slope = np.moveaxis(lines[(values >> self.fraction_bits) + len(lines) // 2], -1, 0)
        fraction = values & ((1 << self.fraction_bits) - 1)
        return self.shift.apply((base << self.fraction_bits) + slope * fraction) + self.offset


_TABLES: dict[Activation, Direct | Interpolated] = {
    Activation.LUT_U8_U8: Direct(np.uint8, "u1"),
    Activation.LUT_S8_S8: Direct(np.int8, "i1"),
    Activation.LUT_S8_S16: Direct(np.int8, "<i2"),
    Activation.LUT_S8_S32: Direct(np.int8, "<i4"),
    Activation.LUT_S16_S16: Interpolated(7, Shift(np.array(7), Rounding.NATURAL)),
    Activation.LUT_S16_S32: Interpolated(7, Shift(np.array(0), Rounding.NATURAL)),
    # The table is that of a sigmoid less one half: a tanh is the same, twice as high and half as wide.
    # How the hardware rounds is not public; like this, all 65,536 results are TensorFlow Lite Micro's.
    Activation.SIGMOID: Interpolated(9, Shift(np.array(10), Rounding.SYMMETRIC), offset=1 << 14),
    Activation.TANH: Interpolated(8, Shift(np.array(8), Rounding.SYMMETRIC)),
}


@dataclass(frozen=True)
class Lut:
    """One table in the table RAM and the way it is read."""

    kind: Direct | Interpolated
    start: int  #: byte offset in the table RAM

    def apply(self, machine: Machine, values: Int) -> Int:
        """Look up every value."""
        table = machine.lut[self.start : self.start + self.kind.size]
        return self.kind.look_up(table, np.clip(values, *self.kind.limits))


def lut_from_registers(registers: Registers) -> Lut | None:
    """Read ACTIVATION; None when it asks for no table.  Raises CommandError."""
    function = registers.enum(Activation, "ACTIVATION", "function")
    if function is Activation.NONE:
        return None
    kind = _TABLES.get(function)
    if kind is None:
        raise CommandError(f"activation {function.name} is not modelled")
    table = registers.value("ACTIVATION", "table")
    if (table + 1) * kind.size > LUT_BYTES:
        raise CommandError(f"table {table} of {kind.size} bytes lies outside the table RAM")
    return Lut(kind, table * kind.size)
