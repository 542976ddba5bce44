"""Checks of a stream's use of memory, made on its operations without running them.

Each rule has a name in `Check`.  What the rules cannot decide is reported as unknown, never as a finding.
Running a stream in order gives the right results even where the hardware, which works on several operations
at once, would not; and it does not show what the memory held before.  These checks find both.
"""

from __future__ import annotations

from harness.sim.npu.checks.examine import Extent, check_program, check_stream, extents
from harness.sim.npu.checks.finding import Check, CheckFinding, CheckReport
from harness.sim.npu.checks.poison import POISON, poison
from harness.sim.npu.checks.regions import DIRECT_DRIVE, Region, Role, direct_drive

__all__ = [
    "DIRECT_DRIVE",
    "POISON",
    "Check",
    "CheckFinding",
    "CheckReport",
    "Extent",
    "Region",
    "Role",
    "check_program",
    "check_stream",
    "direct_drive",
    "extents",
    "poison",
]
