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
    """One DMA_START that reads (gather) or writes (scatter) the rows that a list names.

    The list has an int32 for every row of a plane, then `list_gap` bytes before those of the next plane.
    """

    transfer: Transfer
    scatter: bool
    list_region: int
    list_address: int
    list_gap: int
    last_row: int

    def run(self, machine: Machine) -> None:
        """Copy.  Raises CommandError, AccessFault."""
        planes, rows, length = self.transfer.shape
        listed = self._listed(machine)
        in_order, by_list = (planes, rows, length), (planes, int(listed.max()) + 1, length)
        source, destination = (in_order, by_list) if self.scatter else (by_list, in_order)
        read = self.transfer.source.view(machine, source, Channel.DMA_READ)
        write = self.transfer.destination.view(machine, destination, Channel.DMA_WRITE)
        plane = np.arange(planes)[:, None]
        if self.scatter:
            write[plane, listed] = read
        else:
            write[...] = read[plane, listed]

    def _listed(self, machine: Machine) -> NDArray[np.int32]:
        planes, rows, _ = self.transfer.shape
        stride = 4 * rows + self.list_gap
        size = (planes - 1) * stride + 4 * rows
        memory = machine.view(self.list_region, self.list_address, size, Channel.DMA_READ)
        listed: NDArray[np.int32] = np.ndarray((planes, rows), "<i4", memory.data, strides=(stride, 4)).copy()
        if listed.min() < 0 or listed.max() > self.last_row:
            raise CommandError(
                f"the list of rows names {listed.min()} to {listed.max()}, of 0 to {self.last_row}"
            )
        return listed

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
    gather, scatter = (bool(registers.value(f"DMA0_{end}_REGION", "indexed")) for end in ("SRC", "DST"))
    plain = Transfer(shape, _end(registers, "SRC", mode, gather), _end(registers, "DST", mode, scatter))
    if not gather and not scatter:
        return plain
    if gather and scatter:
        raise CommandError("a transfer indexed at both ends is not modelled")
    return Indexed(
        plain,
        scatter,
        registers.value("DMA0_IDX_REGION"),
        registers.value("DMA0_IDX"),
        registers.value("DMA0_IDX_SKIP1") if mode is StrideMode.D3 else 0,
        registers.value("DMA0_IDX_MAX"),
    )


def _end(registers: Registers, name: str, mode: StrideMode, indexed: bool) -> End:
    region = f"DMA0_{name}_REGION"
    plane = registers.value(f"DMA0_{name}_STRIDE1") if mode is StrideMode.D3 else 0
    row = 0 if mode is StrideMode.D1 and not indexed else registers.value(f"DMA0_{name}_STRIDE0")
    return End(
        registers.value(region, "region"),
        registers.enum(RegionMode, region, "mode") is RegionMode.INTERNAL,
        registers.value(f"DMA0_{name}"),
        (plane, row),
    )
