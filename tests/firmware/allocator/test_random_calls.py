"""The allocator under random calls, compiled for the host and held against a model of its rules in Python."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from harness.build.firmware_tree import Edit
from harness.build.toolchain import find_toolchain

MALLOC, CACHING = 0, 1  # temp.h: enum temp_kind
HEAP_SIZE = 1 << 18  # more than the calls of one example can fill
TEMP_SIZE = 256  # room for a struct temp
RESET = None

Build = Callable[..., ctypes.CDLL]

KINDS = st.sampled_from([MALLOC, CACHING])
LIMITS = st.sampled_from([0, 300, 1500])
SIZES = st.sampled_from([0, 1, 64, 100, 1000])
#: Up to 64 an alignment moves no address within its block, so that addresses tell blocks.
ALIGNMENTS = st.sampled_from([1, 16, 64])
CALLS = st.lists(st.one_of(st.just(RESET), st.tuples(SIZES, ALIGNMENTS)), min_size=20, max_size=60)

pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="the library is loaded as an ELF file")


class Heap(ctypes.Structure):
    """heap.h: struct heap."""

    _fields_ = (
        ("first_free", ctypes.c_void_p),
        ("block_count", ctypes.c_size_t),
        ("used", ctypes.c_size_t),
        ("peak", ctypes.c_size_t),
    )


@dataclass
class Model:
    """The rules: what is live and what is kept, as address and key, the last at the end."""

    kind: int
    max_size: int
    live: list[tuple[int, int]] = field(default_factory=list)
    kept: list[tuple[int, int]] = field(default_factory=list)

    def key(self, size: int, alignment: int) -> int:
        if self.kind == CACHING:
            return size + max(alignment, 64) - 1
        return size + (alignment - 1 if alignment > 16 else 0)

    def take_kept(self, key: int) -> int | None:
        """The address that must be used again for this key; None when the memory must be new."""
        fitting = [block for block in self.kept if block[1] == key]
        if not fitting:
            return None
        self.kept.remove(fitting[-1])
        return fitting[-1][0]

    def reset(self) -> None:
        held = sum(key for _, key in self.live + self.kept)
        self.kept = self.kept + self.live[::-1] if self.kind == CACHING and held <= self.max_size else []
        self.live = []


def replay(library: ctypes.CDLL, kind: int, max_size: int, calls: Sequence[tuple[int, int] | None]) -> None:
    """Make the calls, and assert after each that the allocator did what the model says."""
    memory, temp = ctypes.create_string_buffer(HEAP_SIZE), ctypes.create_string_buffer(TEMP_SIZE)
    heap = Heap()
    library.heap_initialise(ctypes.byref(heap), memory, ctypes.c_size_t(HEAP_SIZE))
    first_free = heap.first_free
    library.temp_initialise(temp, kind, ctypes.byref(heap), ctypes.c_size_t(max_size))
    model = Model(kind, max_size)
    for call in calls:
        if call is RESET:
            library.temp_reset(temp)
            model.reset()
        else:
            allocate(library, temp, model, *call)
        assert heap.block_count == len(model.live) + len(model.kept)
    library.temp_destroy(temp)
    assert (heap.first_free, heap.block_count, heap.used) == (first_free, 0, 0)


def allocate(
    library: ctypes.CDLL, temp: ctypes.Array[ctypes.c_char], model: Model, size: int, alignment: int
) -> None:
    """Allocate once: a kept block where there is one, else memory that overlaps no other block."""
    key = model.key(size, alignment)
    reused = model.take_kept(key)
    address = library.temp_allocate(temp, ctypes.c_size_t(size), ctypes.c_size_t(alignment))
    assert address is not None
    assert address % max(alignment, 64 if model.kind == CACHING else 1) == 0
    assert reused in (None, address)
    for start, other in model.live + model.kept:
        assert address + key <= start or start + other <= address
    model.live.append((address, key))


@pytest.fixture(scope="module")
def build(write_allocator) -> Build:
    """Build the allocator for the host, with these edits, and load it."""

    def built(*edits: Edit) -> ctypes.CDLL:
        folder = write_allocator(*edits)
        zig = [sys.executable, "-m", "ziglang", "cc", "-std=c11", "-O1", "-shared", "-fPIC", "-nostdlib"]
        subprocess.run(
            [*zig, "-I.", "-o", "allocator.so", "memory/heap.c", "memory/temp.c", "memory/temp_lock.c"],
            cwd=folder,
            env=dict(find_toolchain().environment),
            check=True,
            timeout=120,
        )
        library = ctypes.CDLL(str(folder / "allocator.so"))
        library.temp_allocate.restype = ctypes.c_void_p
        return library

    return built


@pytest.fixture(scope="module")
def library(build) -> ctypes.CDLL:
    """The allocator as it is shipped."""
    return build()


@given(KINDS, LIMITS, CALLS)
def test_every_call_does_what_the_rules_say(library, kind, max_size, calls):
    replay(library, kind, max_size, calls)


DEFECTS = {
    "a larger block": Edit("memory/temp.c", "->key == key", "->key >= key"),
    "a kept block too many": Edit(
        "memory/temp.c", "temp->live_bytes + temp->cached_bytes <=", "temp->live_bytes <="
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_random_calls_find(build, defect):
    library = build(DEFECTS[defect])

    @settings(derandomize=True, database=None, phases=[Phase.generate], report_multiple_bugs=False)
    @given(KINDS, LIMITS, CALLS)
    def make_calls(kind, max_size, calls):
        replay(library, kind, max_size, calls)

    with pytest.raises(AssertionError):
        make_calls()
