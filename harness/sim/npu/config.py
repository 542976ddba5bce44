"""The five Ethos-U85 configurations, as CONFIG and ID describe them, with the memories around them."""

from __future__ import annotations

from dataclasses import dataclass

from harness.sim.npu.cycles.profiles import SYSTEM_CONFIGS
from harness.sim.npu.cycles.speeds import MemoryProfile, ProfileError

MAC_COUNTS = (128, 256, 512, 1024, 2048)
"""8-bit multiply-accumulates per cycle that the Ethos-U85 is built with."""

_CONFIG_WORDS = dict(
    zip(MAC_COUNTS, (0x20000117, 0x20000118, 0x20001119, 0x2000251A, 0x2000261B), strict=True)
)
_CORES = dict(zip(MAC_COUNTS, (1, 1, 2, 4, 4), strict=True))
_ID_WORD = 0x20007000

DEFAULT_SYSTEM_CONFIG = "Ethos_U85_SYS_DRAM_Mid"


@dataclass(frozen=True)
class NpuConfig:
    """One hardware configuration.  A MAC count that does not exist is a `ValueError`.

    So is, as a ProfileError, a system configuration that does not.  It only says how long things take.
    """

    macs: int
    system_config: str = DEFAULT_SYSTEM_CONFIG

    def __post_init__(self) -> None:
        if self.macs not in _CONFIG_WORDS:
            raise ValueError(
                f"there is no Ethos-U85 with {self.macs} MACs, only {', '.join(map(str, MAC_COUNTS))}"
            )
        if self.system_config not in SYSTEM_CONFIGS:
            known = ", ".join(SYSTEM_CONFIGS)
            raise ProfileError(f"there is no system configuration {self.system_config}, only {known}")

    @property
    def memories(self) -> MemoryProfile:
        """How fast the memories behind the SRAM and the external port are."""
        return SYSTEM_CONFIGS[self.system_config]

    @property
    def config_word(self) -> int:
        """CONFIG as Vela 5.2 writes it into a driver payload for this configuration."""
        return _CONFIG_WORDS[self.macs]

    @property
    def id_word(self) -> int:
        """ID: architecture 2.0.0, product 7 (reset value in Vela 5.2's ethos_u85_interface.hpp)."""
        return _ID_WORD

    @property
    def cores(self) -> int:
        """Cores of the MAC array, each with a weight stream of its own."""
        return _CORES[self.macs]
