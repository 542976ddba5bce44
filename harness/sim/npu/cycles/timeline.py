"""When the operations and DMA transfers of a command stream run, some of them at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.sim.npu.cycles.kernel import KernelCycles, kernel_cycles
from harness.sim.npu.cycles.speeds import SPEEDS, MemoryProfile
from harness.sim.npu.cycles.staging import with_origins
from harness.sim.npu.cycles.traffic import Traffic, copied, copy_cycles, traffic
from harness.sim.npu.cycles.work import DmaWait, DmaWork, KernelWait, KernelWork, Memory, Work

KERNELS_OUTSTANDING = 2
TRANSFERS_OUTSTANDING = 4


@dataclass(frozen=True)
class CycleEstimate:
    """NPU cycles by what causes them, and bytes moved.  Estimates, never measurements; equal on every run.

    All but *total* are what each part of the NPU needs.  They overlap in time, so *total* is not their sum.
    """

    mac: int
    weight_decoder: int
    output_stage: int
    memory: int
    """Feature maps, weights and scales, and DMA."""
    issue: int
    total: int
    traffic: Traffic


@dataclass(frozen=True)
class Slot:
    """The time of one DMA transfer, or of one operation with those that are chained to it."""

    first: int
    last: int
    """Positions of the operations among all the work."""
    start: int
    """NPU cycles since the stream began."""
    end: int
    kernel: KernelCycles | None
    """None for a DMA transfer."""
    traffic: Traffic

    @property
    def memory(self) -> int:
        """Cycles of the memories; all of a DMA transfer's are."""
        return self.end - self.start if self.kernel is None else self.kernel.memory


class _Admission(NamedTuple):
    """When a queue took something, began it and ended it."""

    accepted: int
    start: int
    end: int


class _Queue:
    """Work that is done one after another, and of which only so much can be accepted in advance."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._ends: list[int] = []

    def add(self, now: int, cycles: int) -> _Admission:
        """Queue something that takes so many cycles."""
        accepted = self.wait(now, self._capacity - 1)
        start = max([accepted, *self._ends[-1:]])
        self._ends.append(start + cycles)
        return _Admission(accepted, start, start + cycles)

    def wait(self, now: int, outstanding: int) -> int:
        """Return when at most *outstanding* are unfinished."""
        finished = len(self._ends) - outstanding
        return max(now, self._ends[finished - 1]) if finished > 0 else now


def timetable(work: Sequence[Work], macs: int, profile: MemoryProfile) -> Iterator[Slot]:
    """Place operations and transfers in time, in command-stream order; waits have no slot of their own.

    Not modelled: contention between DMA and operations, and one operation's last block overlapping the next
    one's first.  Raises ProfileError when the stream writes to a memory that cannot be written.
    """
    now = 0
    kernels, transfers = _Queue(KERNELS_OUTSTANDING), _Queue(TRANSFERS_OUTSTANDING)
    chain: list[KernelWork] = []
    for position, item in enumerate(with_origins(work)):
        match item:
            case KernelWork():
                chain.append(item)
                if item.ofm.memory is not Memory.CHAINED:
                    cycles = kernel_cycles(chain, macs, profile)
                    now, start, end = kernels.add(now, cycles.total)
                    yield Slot(position - len(chain) + 1, position, start, end, cycles, cycles.traffic)
                    chain = []
            case DmaWork():
                now, start, end = transfers.add(now, copy_cycles(item, SPEEDS[macs], profile))
                yield Slot(position, position, start, end, None, traffic(copied(item)))
            case KernelWait():
                now = kernels.wait(now, item.outstanding)
            case DmaWait():
                now = transfers.wait(now, item.outstanding)


def estimate(work: Sequence[Work], macs: int, profile: MemoryProfile) -> CycleEstimate:
    """Estimate the cycles from the first to the last of *work*.  Raises ProfileError like `timetable`."""
    slots = list(timetable(work, macs, profile))
    kernels = [slot.kernel for slot in slots if slot.kernel is not None]
    return CycleEstimate(
        mac=sum(cycles.mac for cycles in kernels),
        weight_decoder=sum(cycles.weight_decoder for cycles in kernels),
        output_stage=sum(cycles.output_stage for cycles in kernels),
        memory=sum(slot.memory for slot in slots),
        issue=sum(cycles.issue for cycles in kernels),
        total=max((slot.end for slot in slots), default=0),
        traffic=sum((slot.traffic for slot in slots), Traffic()),
    )
