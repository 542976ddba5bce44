"""DMA_START: copies between memory regions and the table RAM, in one, two or three dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import cycles
from harness.sim.npu.blocks import Memories
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.machine import LUT_BYTES, Machine
from harness.sim.npu.opcodes import RegionMode, StrideMode
from harness.sim.npu.registers import Registers

MAX_BYTES = 1 << 30
"""Largest transfer that is carried out; it keeps a corrupted stream from copying for hours."""


@dataclass(frozen=True)
class End:
    """Source or destination of a transfer."""

    region: int
    internal: bool  #: the table RAM; `region` has no meaning then
    address: int
    strides: tuple[int, int]  #: bytes between planes and between rows

    def view(self, machine: Machine, shape: tuple[int, int, int], channel: Channel) -> NDArray[np.uint8]:
        """Return the bytes as [planes, rows, row length]."""
        planes, rows, length = shape
        size = (planes - 1) * self.strides[0] + (rows - 1) * self.strides[1] + length
        if not self.internal:
            memory = machine.view(self.region, self.address, size, channel)
        elif self.address + size <= LUT_BYTES:
            memory = machine.lut[self.address : self.address + size]
        else:
            raise CommandError(f"{size} bytes at {self.address:#x} lie outside the table RAM")
        return np.ndarray(shape, np.uint8, memory.data, strides=(*self.strides, 1))


@dataclass(frozen=True)
class Transfer:
    """One DMA_START."""

    shape: tuple[int, int, int]  #: planes, rows, bytes of a row
    source: End
    destination: End

    def run(self, machine: Machine) -> None:
        """Copy.  Raises CommandError, AccessFault."""
        source = self.source.view(machine, self.shape, Channel.DMA_READ)
        self.destination.view(machine, self.shape, Channel.DMA_WRITE)[...] = source

    def work(self, memories: Memories) -> cycles.DmaWork:
        """Describe the transfer to the cycle estimate."""
        planes, rows, length = self.shape
        return cycles.DmaWork(
            planes * rows * length, _memory(self.source, memories), _memory(self.destination, memories)
        )


def _memory(end: End, memories: Memories) -> cycles.Memory:
    return cycles.Memory.LUT if end.internal else memories[end.region]


def transfer(registers: Registers) -> Transfer:
    """Read the DMA0 registers.  Raises CommandError."""
    mode = registers.enum(StrideMode, "DMA0_SRC_REGION", "stride_mode")
    if registers.value("DMA0_SRC_REGION", "indexed") or registers.value("DMA0_DST_REGION", "indexed"):
        raise CommandError("indexed transfers are not modelled")
    shape = (
        registers.value("DMA0_SIZE1") if mode is StrideMode.D3 else 1,
        1 if mode is StrideMode.D1 else registers.value("DMA0_SIZE0"),
        registers.value("DMA0_LEN"),
    )
    if min(shape) < 1 or shape[0] * shape[1] * shape[2] > MAX_BYTES:
        raise CommandError(f"a transfer of {' x '.join(map(str, shape))} bytes")
    return Transfer(shape, _end(registers, "SRC", mode), _end(registers, "DST", mode))


def _end(registers: Registers, name: str, mode: StrideMode) -> End:
    region = f"DMA0_{name}_REGION"
    plane = registers.value(f"DMA0_{name}_STRIDE1") if mode is StrideMode.D3 else 0
    row = 0 if mode is StrideMode.D1 else registers.value(f"DMA0_{name}_STRIDE0")
    return End(
        registers.value(region, "region"),
        registers.enum(RegionMode, region, "mode") is RegionMode.INTERNAL,
        registers.value(f"DMA0_{name}"),
        (plane, row),
    )
