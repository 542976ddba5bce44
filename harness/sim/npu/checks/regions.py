"""The buffers behind a stream's memory regions, as the driver that starts it knows them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    """What a buffer is there for."""

    CONSTANT = "weights"
    SCRATCH = "scratch"
    INPUT = "inputs"
    OUTPUT = "outputs"

    @property
    def is_protected(self) -> bool:
        """Whether the NPU has no business to write to it."""
        return self in (Role.CONSTANT, Role.INPUT)


@dataclass(frozen=True)
class Region:
    """One buffer.  Weights and inputs are written before the stream starts, the others are not."""

    role: Role
    base: int  #: its base pointer
    size: int | None  #: bytes; None where nobody knows, and no access is outside
    written: tuple[tuple[int, int], ...] = ()
    """(offset, size) of what else is written before the start: variables, inputs within the scratch."""


DIRECT_DRIVE = (Role.CONSTANT, Role.SCRATCH, Role.SCRATCH, Role.INPUT, Role.OUTPUT)
"""The roles of regions 0 to 4 in a stream with separate regions for inputs and outputs.

Region 2 is the NPU's SRAM (Vela 5.2, regor/architecture/ethosu85/ethos_u85_register_cs_generator.cpp,
ToRegion).
"""


def direct_drive(bases: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[Region, ...]:
    """Return the regions of a direct-drive stream from the addresses and sizes of its five buffers."""
    return tuple(Region(*region) for region in zip(DIRECT_DRIVE, bases, sizes, strict=True))
