"""How long a command stream takes with the memories of a profile, without running it."""

from __future__ import annotations

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.cycles import CycleEstimate, VelaProfile, estimate
from harness.sim.npu.faults import CommandError
from harness.sim.npu.program import Program, prepare


def estimate_stream(stream: bytes, macs: int, profile: VelaProfile) -> CycleEstimate:
    """Estimate the cycles of a whole stream that was compiled for this profile.

    Raises CommandError when the model cannot carry the stream out, ProfileError when it writes to a memory
    that cannot be written.
    """
    return estimate_program(prepare(stream, NpuConfig(macs)), macs, profile)


def estimate_program(program: Program, macs: int, profile: VelaProfile) -> CycleEstimate:
    """Estimate the cycles of a whole stream by the way that was taken through it.  Raises like the above."""
    if program.fault is not None:
        raise CommandError(str(program.fault))
    work = [step.operation.work(profile.regions) for step in program.steps]
    return estimate(work, macs, profile.memories)
