"""Physical memory: RAM that the core, the NPU and the loader share without copying.

Each RAM has two views. The core reads and writes the CPU view; the NPU and any other bus master see the
memory view. For uncached RAM, or with the cache model off, both are the same array. With the model on they
are two, and only cache maintenance carries bytes from one to the other, so a missing operation gives wrong
bytes instead of luck.

The model takes every store of the CPU as cached and never writes a line back by itself: it shows the worst
that a real cache may do.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import BusFault

CACHE_LINE = 64
PAGE = 4096
_FILL_TILE = 8 << 20
_MAP_FIXED = 0x10  # Linux asm-generic/mman-common.h; Python's mmap module cannot place a mapping
_MAP_FAILED = ctypes.c_void_p(-1).value

Bytes = NDArray[np.uint8]


class MemoryMapError(Exception):
    """The memory map or what is to be loaded into it makes no sense; the message says where."""


@dataclass(frozen=True)
class Ram:
    """One range of RAM.  `cpu` and `memory` are its views; they may be the same array."""

    name: str
    base: int
    cpu: Bytes
    memory: Bytes

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.cpu)

    def contains(self, address: int, size: int) -> bool:
        """Say whether all of `size` bytes from `address` on lie in this RAM."""
        return self.base <= address and address + size <= self.base + self.size


class PhysicalMemory:
    """All RAM of the board, by physical address."""

    def __init__(self, rams: tuple[Ram, ...]) -> None:
        self.rams = rams

    def view(self, address: int, size: int) -> Bytes:
        """Return the bytes a bus master sees; raises BusFault where there is no RAM behind all of them."""
        ram = self._find(address, size)
        if ram is None:
            raise BusFault(address, size)
        return ram.memory[address - ram.base : address - ram.base + size]

    def load(self, address: int, data: bytes, source: str) -> None:
        """Write `data` into both views, as a boot loader that cleans its caches; raises MemoryMapError."""
        ram = self._find(address, len(data))
        if ram is None:
            raise MemoryMapError(f"{source}: no RAM at {address:#x}..{address + len(data):#x}")
        place = slice(address - ram.base, address - ram.base + len(data))
        ram.cpu[place] = ram.memory[place] = np.frombuffer(data, np.uint8)

    def read(self, address: int, size: int) -> int | None:
        """Return the little-endian number that the CPU sees at `address`, None where there is no RAM."""
        ram = self._find(address, size)
        if ram is None:
            return None
        return int.from_bytes(ram.cpu[address - ram.base : address - ram.base + size].tobytes(), "little")

    def clean_line(self, address: int) -> None:
        """Carry the cache line around `address` from the CPU view to the memory view, where there is RAM."""
        for ram, line in self._line(address):
            ram.memory[line] = ram.cpu[line]

    def invalidate_line(self, address: int) -> None:
        """Carry the cache line around `address` from the memory view to the CPU view, where there is RAM."""
        for ram, line in self._line(address):
            ram.cpu[line] = ram.memory[line]

    def _find(self, address: int, size: int) -> Ram | None:
        return next((ram for ram in self.rams if ram.contains(address, size)), None)

    def _line(self, address: int) -> list[tuple[Ram, slice]]:
        start = address & -CACHE_LINE
        return [
            (ram, slice(start - ram.base, start - ram.base + CACHE_LINE))
            for ram in self.rams
            if ram.contains(start, CACHE_LINE)
        ]


def allocate(size: int, fill: int) -> Bytes:
    """Return `size` bytes that all hold `fill`, a multiple of the page size.

    Neither time nor host memory is spent on pages that nobody writes: zero pages come from the kernel,
    others are copy-on-write mappings of one small tile, laid side by side.
    """
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    array = np.frombuffer(block, np.uint8)
    if fill:
        _tile(array, fill)
    return array


def _tile(array: Bytes, fill: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_long,
    )
    tile = os.memfd_create("harness-sim fill")
    try:
        os.write(tile, bytes([fill]) * min(_FILL_TILE, len(array)))
        for offset in range(0, len(array), _FILL_TILE):
            where = libc.mmap(
                array.ctypes.data + offset,
                min(_FILL_TILE, len(array) - offset),
                mmap.PROT_READ | mmap.PROT_WRITE,
                mmap.MAP_PRIVATE | _MAP_FIXED,
                tile,
                0,
            )
            if where == _MAP_FAILED:
                raise OSError(ctypes.get_errno(), "cannot fill the simulated memory")
    finally:
        os.close(tile)


def make_ram(name: str, base: int, size: int, *, fill: int, cached: bool) -> Ram:
    """Return RAM that holds `fill`; `cached` gives it two separate views.  Raises MemoryMapError."""
    if base % PAGE or size % PAGE or not size:
        raise MemoryMapError(f"{name} at {base:#x}, {size:#x} bytes: not a number of whole {PAGE}-byte pages")
    cpu = allocate(size, fill)
    return Ram(name, base, cpu, allocate(size, fill) if cached else cpu)
