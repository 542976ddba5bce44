"""The five Ethos-U85 configurations, as the CONFIG and ID registers describe them."""

from __future__ import annotations

from dataclasses import dataclass

MAC_COUNTS = (128, 256, 512, 1024, 2048)
"""8-bit multiply-accumulates per cycle that the Ethos-U85 is built with."""

_CONFIG_WORDS = dict(
    zip(MAC_COUNTS, (0x20000117, 0x20000118, 0x20001119, 0x2000251A, 0x2000261B), strict=True)
)
_CORES = dict(zip(MAC_COUNTS, (1, 1, 2, 4, 4), strict=True))
_ID_WORD = 0x20007000


@dataclass(frozen=True)
class NpuConfig:
    """One hardware configuration.  A MAC count that does not exist is a `ValueError`."""

    macs: int

    def __post_init__(self) -> None:
        if self.macs not in _CONFIG_WORDS:
            raise ValueError(
                f"there is no Ethos-U85 with {self.macs} MACs, only {', '.join(map(str, MAC_COUNTS))}"
            )

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
