"""Table look-up: the activation functions that the output stage reads from the table RAM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import CommandError
from harness.sim.npu.machine import LUT_BYTES, Machine
from harness.sim.npu.opcodes import Activation
from harness.sim.npu.registers import Registers

# function: (index type, table entry type, entries); a 16-bit entry is a pair of slope and base
_DIRECT: dict[Activation, tuple[type[np.integer], str]] = {
    Activation.LUT_U8_U8: (np.uint8, "u1"),
    Activation.LUT_S8_S8: (np.int8, "i1"),
    Activation.LUT_S8_S16: (np.int8, "<i2"),
    Activation.LUT_S8_S32: (np.int8, "<i4"),
}
_FRACTION_BITS = 7  #: of a 16-bit index: the other 9 bits choose the table entry


@dataclass(frozen=True)
class Lut:
    """One table in the table RAM and the way it is read."""

    function: Activation
    start: int  #: byte offset in the table RAM
    size: int  #: bytes

    def apply(self, machine: Machine, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Look up every value; values outside the index type count as its nearest one."""
        table = machine.lut[self.start : self.start + self.size]
        if self.function is Activation.LUT_S16_S16:
            return _interpolate(table, values)
        index_type, entry = _DIRECT[self.function]
        low, high = np.iinfo(index_type).min, np.iinfo(index_type).max
        return table.view(entry).astype(np.int64)[np.clip(values, low, high) - low]


def _interpolate(table: NDArray[np.uint8], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return base + slope * fraction, the sum rounded half up at the fraction's last bit."""
    pairs = table.view("<i2").astype(np.int64).reshape(-1, 2)
    index = np.clip(values, -(1 << 15), (1 << 15) - 1)
    slope, base = np.moveaxis(pairs[(index >> _FRACTION_BITS) + len(pairs) // 2], -1, 0)
    fraction = index & ((1 << _FRACTION_BITS) - 1)
    line: NDArray[np.int64] = (base << _FRACTION_BITS) + slope * fraction
    return (line + (1 << _FRACTION_BITS - 1)) >> _FRACTION_BITS


def lut_from_registers(registers: Registers) -> Lut | None:
    """Read ACTIVATION; None when it asks for no table.

    TANH, SIGMOID and 16-bit tables of 32-bit values are refused: how they round is not public.
    """
    function = registers.enum(Activation, "ACTIVATION", "function")
    if function is Activation.NONE:
        return None
    if function is Activation.LUT_S16_S16:
        size = LUT_BYTES
    elif function in _DIRECT:
        size = 256 * np.dtype(_DIRECT[function][1]).itemsize
    else:
        raise CommandError(f"activation {function.name} is not modelled")
    start = registers.value("ACTIVATION", "table") * size
    if start + size > LUT_BYTES:
        raise CommandError(f"table {start // size} of {size} bytes lies outside the table RAM")
    return Lut(function, start, size)
