"""DMA_START: copies between memory regions and the table RAM, evenly spaced or by a list of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import cycles
from harness.sim.npu.faults import Channel, CommandError
from harness.sim.npu.machine import LUT_BYTES, Machine
from harness.sim.npu.opcodes import RegionMode, StrideMode
from harness.sim.npu.registers import Registers
from harness.sim.npu.workload import Memories

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
        end = self.destination
        in_one_piece = planes == rows == 1 and not end.internal
        return cycles.DmaWork(
            planes * rows * length,
            _memory(self.source, memories),
            _memory(end, memories),
            cycles.Place(end.region, end.address) if in_one_piece else None,
        )


@dataclass(frozen=True)
class Indexed:
    """One DMA_START that reads (gather) or writes (scatter) the rows that a list names."""

    transfer: Transfer
    scatter: bool
    list_region: int
    list_address: int
    last_row: int

    def run(self, machine: Machine) -> None:
        """Copy.  Raises CommandError, AccessFault."""
        _, rows, length = self.transfer.shape
        listed = (
            machine.view(self.list_region, self.list_address, 4 * rows, Channel.DMA_READ).copy().view("<i4")
        )
        if listed.min() < 0 or listed.max() > self.last_row:
            raise CommandError(
                f"the list of rows names {listed.min()} to {listed.max()}, of 0 to {self.last_row}"
            )
        in_order, by_list = (1, rows, length), (1, int(listed.max()) + 1, length)
        source, destination = (in_order, by_list) if self.scatter else (by_list, in_order)
        read = self.transfer.source.view(machine, source, Channel.DMA_READ)[0]
        write = self.transfer.destination.view(machine, destination, Channel.DMA_WRITE)[0]
        if self.scatter:
            write[listed] = read
        else:
            write[...] = read[listed]

    def work(self, memories: Memories) -> cycles.DmaWork:
        """Describe the transfer to the cycle estimate."""
        return self.transfer.work(memories)


def _memory(end: End, memories: Memories) -> cycles.Memory:
    return cycles.Memory.LUT if end.internal else memories[end.region]


def transfer(registers: Registers) -> Transfer | Indexed:
    """Read the DMA0 registers.  Raises CommandError."""
    mode = registers.enum(StrideMode, "DMA0_SRC_REGION", "stride_mode")
    shape = (
        registers.value("DMA0_SIZE1") if mode is StrideMode.D3 else 1,
        1 if mode is StrideMode.D1 else registers.value("DMA0_SIZE0"),
        registers.value("DMA0_LEN"),
    )
    if min(shape) < 1 or shape[0] * shape[1] * shape[2] > MAX_BYTES:
        raise CommandError(f"a transfer of {' x '.join(map(str, shape))} bytes")
    plain = Transfer(shape, _end(registers, "SRC", mode), _end(registers, "DST", mode))
    gather, scatter = (bool(registers.value(f"DMA0_{end}_REGION", "indexed")) for end in ("SRC", "DST"))
    if not gather and not scatter:
        return plain
    if mode is not StrideMode.D2 or (gather and scatter):
        raise CommandError("a transfer indexed at both ends, or not of two dimensions, is not modelled")
    return Indexed(
        plain,
        scatter,
        registers.value("DMA0_IDX_REGION"),
        registers.value("DMA0_IDX"),
        registers.value("DMA0_IDX_MAX"),
    )


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
