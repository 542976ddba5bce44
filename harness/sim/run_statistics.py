"""The block that `--stat` prints, in the layout of Arm's Fast Models."""

from __future__ import annotations

from dataclasses import dataclass

from harness.sim.clock import NS_PER_SECOND

TOP_INSTANCE = "Corstone_1000_A320"
WIDTH = 80
LABEL = 40


@dataclass(frozen=True)
class Statistics:
    """What one simulation did, and what it cost. Times are in seconds."""

    instructions: int
    simulated_ns: int
    user_time: float
    system_time: float
    wall_time: float
    npu_jobs: int
    npu_cycles: int
    cache_findings: int | None  #: None when nothing looked for them

    def __str__(self) -> str:
        simulated = self.simulated_ns / NS_PER_SECOND
        mips = self.instructions / self.wall_time / 1e6
        rows = {
            "Simulated time": f"{simulated:.6f}s",
            "User time": f"{self.user_time:.6f}s",
            "System time": f"{self.system_time:.6f}s",
            "Wall time": f"{self.wall_time:.6f}s",
            "Performance index": f"{simulated / self.wall_time:.2f}",
            f"{TOP_INSTANCE}.host.cpu0": f"{mips:.2f} MIPS ({self.instructions:12d} Inst)",
            f"{TOP_INSTANCE}.host.ethosu": f"{self.npu_jobs} jobs ({self.npu_cycles:12d} Cycles)",
        }
        if self.cache_findings is not None:
            rows[f"{TOP_INSTANCE}.host.cache_check"] = f"{self.cache_findings} findings"
        title = f"--- {TOP_INSTANCE} statistics: "
        body = "\n".join(f"{label:{LABEL}}: {value}" for label, value in rows.items())
        return f"{title:-<{WIDTH}}\n{body}\n{'-' * WIDTH}"
