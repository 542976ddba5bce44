"""The memory profiles of Vela's configuration file: how fast the memories are, and which region is in which.

Figures and names: Vela 5.2, config_files/Arm/vela.ini, System_Config.Ethos_U85_* and Memory_Mode.*.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.sim.npu.cycles.speeds import MemoryProfile, MemorySpeed, ProfileError
from harness.sim.npu.cycles.work import Memory


def _sram(ports: int, latency: int) -> MemorySpeed:
    return MemorySpeed(
        clock=1, ports=ports, burst=64, read_latency=latency, write_latency=latency, reads=8, writes=8
    )


def _dram(clock: float, ports: int, reads: int, writes: int) -> MemorySpeed:
    return MemorySpeed(clock, ports, 128, read_latency=500, write_latency=250, reads=reads, writes=writes)


def _flash(latency: int) -> MemorySpeed:
    return MemorySpeed(1 / 16, 1, 128, read_latency=latency, write_latency=0, reads=2, writes=0)


SYSTEM_CONFIGS = {
    "Ethos_U85_SYS_DRAM_Low": MemoryProfile(_sram(2, 16), _dram(15 / 32, 1, 24, 12)),
    "Ethos_U85_SYS_DRAM_Mid": MemoryProfile(_sram(2, 32), _dram(3 / 4, 1, 64, 32)),
    "Ethos_U85_SYS_DRAM_High": MemoryProfile(_sram(4, 32), _dram(3 / 4, 2, 64, 32)),
    "Ethos_U85_SYS_Flash_Low": MemoryProfile(_sram(2, 8), _flash(32)),
    "Ethos_U85_SYS_Flash_High": MemoryProfile(_sram(2, 32), _flash(64)),
}
"""How fast the memories are, by the name of the system configuration."""

SYS_DRAM_MID = SYSTEM_CONFIGS["Ethos_U85_SYS_DRAM_Mid"]

_IN_SRAM = (Memory.SRAM,) * 3
_CONSTANTS_OUTSIDE = (Memory.EXTERNAL, Memory.SRAM, Memory.SRAM)
_ALL_BUT_CACHE_OUTSIDE = (Memory.EXTERNAL, Memory.EXTERNAL, Memory.SRAM)

MEMORY_MODES = {
    "Sram_Only": _IN_SRAM,
    "Shared_Sram": _CONSTANTS_OUTSIDE,
    "Dedicated_Sram": _ALL_BUT_CACHE_OUTSIDE,
    "Dedicated_Sram_256KB": _ALL_BUT_CACHE_OUTSIDE,
    "Dedicated_Sram_384KB": _ALL_BUT_CACHE_OUTSIDE,
    "Dedicated_Sram_512KB": _ALL_BUT_CACHE_OUTSIDE,
}
"""Where constants, arena and cache are, by the name of the memory mode."""


@dataclass(frozen=True)
class VelaProfile:
    """One system configuration in one memory mode, by their names.

    Raises ProfileError for a name that does not exist, and for a mode that has the arena in a flash memory,
    which Vela refuses too.
    """

    system_config: str
    memory_mode: str

    def __post_init__(self) -> None:
        for kind, name, known in (
            ("system configuration", self.system_config, SYSTEM_CONFIGS),
            ("memory mode", self.memory_mode, MEMORY_MODES),
        ):
            if name not in known:
                raise ProfileError(f"there is no {kind} {name} for Ethos-U85, only {', '.join(known)}")
        _, arena, _ = MEMORY_MODES[self.memory_mode]
        if not self.memories.speed(arena).writes:
            raise ProfileError(f"{self.memory_mode} writes to the flash memory of {self.system_config}")

    @property
    def memories(self) -> MemoryProfile:
        """How fast the memories are."""
        return SYSTEM_CONFIGS[self.system_config]

    @property
    def regions(self) -> tuple[Memory, ...]:
        """Where each of the eight regions is, as Vela numbers them.

        Region 0 has the constants, 2 the cache; 1 and the regions for inputs and outputs are the arena's.
        """
        constants, arena, cache = MEMORY_MODES[self.memory_mode]
        return constants, arena, cache, *(arena,) * 5
