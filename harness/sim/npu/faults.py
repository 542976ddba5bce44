"""Why the NPU stopped: one frozen record, and the exceptions that carry it inside the model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum


class FaultKind(Enum):
    """What STATUS says about the fault; the value is its bit."""

    BUS = 2
    PARSE = 4
    BRANCH = 9


class Channel(IntEnum):
    """The bus master that failed, as in STATUS.faulting_channel."""

    COMMAND = 0
    IFM = 1
    WEIGHT = 2
    SCALE = 3
    DMA_READ = 4
    OFM = 8
    DMA_WRITE = 9


@dataclass(frozen=True)
class NpuFault:
    """One fault, as the platform's log shows it."""

    kind: FaultKind
    offset: int  #: bytes from the start of the command stream to the command that failed
    opcode: str  #: the command's name; for a word that is no command, its value
    detail: str  #: one line
    region: int | None = None  #: the region that was accessed; None unless `kind` is BUS
    channel: Channel | None = None  #: the bus master; None unless `kind` is BUS

    def __str__(self) -> str:
        return (
            f"{self.kind.name.lower()} fault at stream offset {self.offset:#x}, {self.opcode}: {self.detail}"
        )


class BusFault(Exception):
    """An access to an address range with no memory behind it.  Raised by a `Memory`."""

    def __init__(self, address: int, size: int) -> None:
        super().__init__(f"no memory at {address:#x}, {size} bytes")
        self.address = address
        self.size = size


class AccessFault(Exception):
    """A `BusFault` together with the region and the bus master that met it."""

    def __init__(self, fault: BusFault, region: int, channel: Channel) -> None:
        super().__init__(f"region {region}, {channel.name.lower().replace('_', ' ')}: {fault}")
        self.region = region
        self.channel = channel


class CommandError(Exception):
    """A command that the hardware would refuse, or that this model cannot compute; the message says why."""


class BranchError(Exception):
    """A jump that cannot be followed; the message says why."""
