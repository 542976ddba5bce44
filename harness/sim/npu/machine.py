"""The state that operations share while a stream runs: memory, table RAM, chaining buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import AccessFault, BusFault, Channel, CommandError
from harness.sim.npu.memory import Memory
from harness.sim.npu.watch import Access, Watch

REGIONS = 8
LUT_BYTES = 2048
"""Size of the table RAM: 8 slots of 256 bytes (Vela 5.2, regor/architecture/ethosu85/ethos_u85.cpp)."""


class Machine:
    """One NPU at work.

    The table RAM keeps its content from one stream to the next; the chaining buffers do not.
    """

    def __init__(self, memory: Memory, watches: Sequence[Watch] = ()) -> None:
        self._memory = memory
        self._watches = watches
        self._command = 0, ""
        self._base_pointers: tuple[int, ...] = ()
        # What was seen of the regions as they lie now: an operation looks at the same bytes in every run.
        self._views: dict[tuple[int, int, int], NDArray[np.uint8]] = {}
        self.lut: NDArray[np.uint8] = np.zeros(LUT_BYTES, np.uint8)
        self._chains: dict[int, NDArray[np.integer[Any]]] = {}
        self._result: NDArray[np.integer[Any]] | None = None

    def start(self, base_pointers: Sequence[int]) -> None:
        """Get ready for a stream whose region i lies at base_pointers[i]."""
        if self._base_pointers != tuple(base_pointers):
            self._base_pointers = tuple(base_pointers)
            self._views.clear()
        self._chains.clear()
        self._result = None

    def begin(self, offset: int, opcode: str) -> None:
        """Take note of the command whose accesses follow."""
        self._command = offset, opcode

    def view(self, region: int, offset: int, size: int, channel: Channel) -> NDArray[np.uint8]:
        """Return the bytes of a region, always as one object.  Raises AccessFault when there is no memory."""
        if region >= len(self._base_pointers):
            raise CommandError(f"region {region} has no base pointer")
        try:
            if self._watches:
                access = Access(*self._command, channel, self._base_pointers[region] + offset, size)
                for watch in self._watches:
                    watch(access)
            found = self._views.get((region, offset, size))
            if found is None:
                found = self._memory.view(self._base_pointers[region] + offset, size)
                self._views[region, offset, size] = found
        except BusFault as fault:
            raise AccessFault(fault, region, channel) from fault
        return found

    def note_result(self, elements: NDArray[np.integer[Any]]) -> None:
        """Take note of what an operation of the MAC array or the output stage leaves."""
        self._result = elements

    def condition(self) -> bool:
        """Return whether a jump that asks for the last result is taken.  Raises CommandError when unclear.

        The compiler has a jump follow the operation that makes the condition, one element (Vela 5.2, "HW
        COND_STATUS register" in regor/compiler/graphir_optimiser.cpp).  What several make is not public.
        """
        if self._result is None:
            raise CommandError("a jump that depends on a result, and there is none")
        if self._result.size != 1:
            raise CommandError(
                f"a jump that depends on a result of {self._result.size} elements is not modelled"
            )
        return bool(self._result.any())

    def chain(self, buffer: int, values: NDArray[np.integer[Any]]) -> None:
        """Leave an operation's output in a chaining buffer."""
        self._chains[buffer] = values

    def chained(
        self, buffer: int, shape: tuple[int, int, int], dtype: np.dtype[np.integer[Any]]
    ) -> NDArray[np.integer[Any]]:
        """Take an operation's input from a chaining buffer.  Raises CommandError when it holds another."""
        values = self._chains.get(buffer)
        if values is None:
            raise CommandError(f"chaining buffer {buffer} is read and was never written")
        if (values.shape, values.dtype) != (shape, dtype):
            held = f"{values.dtype} {values.shape}"
            raise CommandError(f"chaining buffer {buffer} holds {held}, {dtype} {shape} is read from it")
        return values
