"""An estimate of the NPU cycles that a command stream takes, from published formulae."""

from __future__ import annotations

from harness.sim.npu.cycles.speeds import SYS_DRAM_MID, MemoryProfile, MemorySpeed
from harness.sim.npu.cycles.timeline import CycleEstimate, estimate
from harness.sim.npu.cycles.work import (
    DmaWait,
    DmaWork,
    FeatureMap,
    KernelWait,
    KernelWork,
    Memory,
    Unit,
    WeightTraffic,
    Work,
)

__all__ = [
    "SYS_DRAM_MID",
    "CycleEstimate",
    "DmaWait",
    "DmaWork",
    "FeatureMap",
    "KernelWait",
    "KernelWork",
    "Memory",
    "MemoryProfile",
    "MemorySpeed",
    "Unit",
    "WeightTraffic",
    "Work",
    "estimate",
]
