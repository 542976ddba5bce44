"""When the operations and DMA transfers of a command stream run, some of them at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.sim.npu.cycles.kernel import KernelCycles, kernel_cycles
from harness.sim.npu.cycles.speeds import SPEEDS, MemoryProfile
from harness.sim.npu.cycles.traffic import copy_cycles
from harness.sim.npu.cycles.work import DmaWait, DmaWork, KernelWait, KernelWork, Memory, Work

KERNELS_OUTSTANDING = 2
TRANSFERS_OUTSTANDING = 4


@dataclass(frozen=True)
class CycleEstimate:
    """NPU cycles by what causes them.  Estimates, never measurements; equal on every run.

    The first four are what each part of the NPU needs.  They overlap in time, so *total* is not their sum.
    """

    mac: int
    output_stage: int
    memory: int
    """Feature maps, weights and scales, and DMA."""
    issue: int
    total: int


class _Queue:
    """Work that is done one after another, and of which only so much can be accepted in advance."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._ends: list[int] = []

    def add(self, now: int, cycles: int) -> int:
        """Queue something; return when it has been accepted."""
        now = self.wait(now, self._capacity - 1)
        self._ends.append(max([now, *self._ends[-1:]]) + cycles)
        return now

    def wait(self, now: int, outstanding: int) -> int:
        """Return when at most *outstanding* are unfinished."""
        return max([now, *self._ends[: len(self._ends) - outstanding][-1:]])


def estimate(work: Sequence[Work], macs: int, profile: MemoryProfile) -> CycleEstimate:
    """Estimate the cycles from the first to the last of *work*, given in command-stream order.

    Not modelled: contention between DMA and operations, and one operation's last block overlapping the next
    one's first.
    """
    now = 0
    kernels, transfers = _Queue(KERNELS_OUTSTANDING), _Queue(TRANSFERS_OUTSTANDING)
    spent: list[KernelCycles] = []
    copied = 0
    chain: list[KernelWork] = []
    for item in work:
        match item:
            case KernelWork():
                chain.append(item)
                if item.ofm.memory is not Memory.CHAINED:
                    spent.append(kernel_cycles(chain, macs, profile))
                    now = kernels.add(now, spent[-1].total)
                    chain = []
            case DmaWork():
                cycles = copy_cycles(item.size, item.source, item.destination, SPEEDS[macs], profile)
                copied += cycles
                now = transfers.add(now, cycles)
            case KernelWait():
                now = kernels.wait(now, item.outstanding)
            case DmaWait():
                now = transfers.wait(now, item.outstanding)
    return CycleEstimate(
        mac=sum(cycles.mac for cycles in spent),
        output_stage=sum(cycles.output_stage for cycles in spent),
        memory=sum(cycles.memory for cycles in spent) + copied,
        issue=sum(cycles.issue for cycles in spent),
        total=transfers.wait(kernels.wait(now, 0), 0),
    )
