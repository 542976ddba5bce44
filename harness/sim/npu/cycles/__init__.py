"""An estimate of the NPU cycles that a command stream takes, from published formulae."""

from __future__ import annotations

from harness.sim.npu.cycles.kernel import KernelCycles
from harness.sim.npu.cycles.profiles import MEMORY_MODES, SYS_DRAM_MID, SYSTEM_CONFIGS, VelaProfile
from harness.sim.npu.cycles.speeds import BEAT_BYTES, MemoryProfile, MemorySpeed, ProfileError
from harness.sim.npu.cycles.timeline import CycleEstimate, Slot, estimate, timetable
from harness.sim.npu.cycles.traffic import Traffic
from harness.sim.npu.cycles.work import (
    DmaWait,
    DmaWork,
    FeatureMap,
    KernelWait,
    KernelWork,
    Memory,
    Place,
    Unit,
    WeightTraffic,
    Work,
)

__all__ = [
    "BEAT_BYTES",
    "MEMORY_MODES",
    "SYSTEM_CONFIGS",
    "SYS_DRAM_MID",
    "CycleEstimate",
    "DmaWait",
    "DmaWork",
    "FeatureMap",
    "KernelCycles",
    "KernelWait",
    "KernelWork",
    "Memory",
    "MemoryProfile",
    "MemorySpeed",
    "Place",
    "ProfileError",
    "Slot",
    "Traffic",
    "Unit",
    "VelaProfile",
    "WeightTraffic",
    "Work",
    "estimate",
    "timetable",
]
