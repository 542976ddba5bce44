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
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import BusFault

CACHE_LINE = 64
PAGE = 4096
FILL_TILE = 8 << 20
PROT_READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE
# MAP_FIXED is 0x10 on Linux (asm-generic/mman-common.h); Python's mmap module cannot place a mapping.
MAP_PRIVATE_FIXED = mmap.MAP_PRIVATE | 0x10

Bytes = NDArray[np.uint8]


class MemoryMapError(Exception):
    """The memory map or what is to be loaded into it makes no sense; the message says where."""


@dataclass(frozen=True)
class Window:
    """A named range of physical addresses; `size` is in bytes."""

    name: str
    base: int
    size: int

    def __str__(self) -> str:
        return f"{self.name} at {self.base:#x}..{self.base + self.size:#x}"


def check_map(windows: Sequence[Window]) -> None:
    """Raise MemoryMapError unless all windows are whole pages and lie apart from each other."""
    for window in windows:
        if window.base % PAGE or window.size % PAGE or not window.size:
            raise MemoryMapError(f"{window}: not a number of whole {PAGE}-byte pages")
    ordered = sorted(windows, key=lambda window: window.base)
    for lower, upper in pairwise(ordered):
        if lower.base + lower.size > upper.base:
            raise MemoryMapError(f"{lower} and {upper} overlap")


@dataclass(frozen=True)
class Ram:
    """RAM in one window. `cpu` and `memory` are its views; they may be the same array."""

    window: Window
    cpu: Bytes
    memory: Bytes

    @property
    def is_cached(self) -> bool:
        """Whether the views are two arrays."""
        return self.cpu is not self.memory

    def place(self, address: int, size: int) -> slice | None:
        """Return where in the views `size` bytes from `address` on are, None unless all of them are here."""
        start = address - self.window.base
        return slice(start, start + size) if 0 <= start <= self.window.size - size else None


class PhysicalMemory:
    """All RAM of the board, by physical address."""

    def __init__(self, rams: tuple[Ram, ...]) -> None:
        self.rams = rams

    def view(self, address: int, size: int) -> Bytes:
        """Return the bytes a bus master sees; raises BusFault where there is no RAM behind all of them."""
        for ram in self.rams:
            if place := ram.place(address, size):
                return ram.memory[place]
        raise BusFault(address, size)

    def load(self, address: int, data: bytes, source: str) -> None:
        """Write `data` into both views, as a loader that cleans its caches; raises MemoryMapError."""
        for ram in self.rams:
            if place := ram.place(address, len(data)):
                ram.cpu[place] = ram.memory[place] = np.frombuffer(data, np.uint8)
                return
        raise _no_ram(source, address, data)

    def cache(self, address: int, data: bytes, source: str) -> None:
        """Write `data` into the CPU view, as a loader that leaves it in its caches; raises MemoryMapError."""
        for ram in self.rams:
            if place := ram.place(address, len(data)):
                ram.cpu[place] = np.frombuffer(data, np.uint8)
                return
        raise _no_ram(source, address, data)

    def write_back(self, address: int, size: int) -> None:
        """Copy the CPU view of RAM to the memory view."""
        for ram in self.rams:
            if place := ram.place(address, size):
                ram.memory[place] = ram.cpu[place]

    def read(self, address: int, size: int) -> int | None:
        """Return the little-endian number that the CPU sees at `address`, None where there is no RAM."""
        for ram in self.rams:
            if place := ram.place(address, size):
                return int.from_bytes(ram.cpu[place].tobytes(), "little")
        return None

    def page(self, address: int) -> tuple[int, int] | None:
        """Return where in this process the CPU view and the memory view of a page are; None without RAM."""
        for ram in self.rams:
            if place := ram.place(address, PAGE):
                return ram.cpu[place].ctypes.data, ram.memory[place].ctypes.data
        return None


def _no_ram(source: str, address: int, data: bytes) -> MemoryMapError:
    return MemoryMapError(f"{source}: no RAM at {address:#x}..{address + len(data):#x}")


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
    with os.fdopen(os.memfd_create("harness-sim fill"), "wb") as tile:
        tile.write(bytes([fill]) * min(FILL_TILE, len(array)))
        tile.flush()
        for offset in range(0, len(array), FILL_TILE):
            size = min(FILL_TILE, len(array) - offset)
            place = array.ctypes.data + offset
            where = libc.mmap(place, size, PROT_READ_WRITE, MAP_PRIVATE_FIXED, tile.fileno(), 0)
            if where != place:
                raise OSError(ctypes.get_errno(), "cannot fill the simulated memory")


def make_ram(window: Window, *, fill: int, cached: bool) -> Ram:
    """Return RAM that holds `fill`; `cached` gives it two separate views."""
    cpu = allocate(window.size, fill)
    return Ram(window, cpu, allocate(window.size, fill) if cached else cpu)
