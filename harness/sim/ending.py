"""How a simulation ends: one record with the text for the user and the program's exit code.

Texts of the limits and of an interruption are those of Arm's Fast Models, because scripts search for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from harness.sim.interruption import WALL_CLOCK, Interrupted


class ExitCode(IntEnum):
    """What `harness-sim` returns; 128 + signal number when it was interrupted."""

    OK = 0  #: the guest shut down, or a limit was met, as with an FVP
    NOT_STARTED = 1  #: the command line or a file is wrong
    GUEST_FATAL = 2  #: the guest cannot go on
    CONSOLE_CLOSED = 3  #: the UART's reader has gone


class GuestFatal(Exception):
    """The guest did what it cannot go on from, or what is not modelled here; the message is the reason."""


class Idle(GuestFatal):
    """The guest waits for an interrupt, and none can come."""


@dataclass(frozen=True)
class Ending:
    """The end of one simulation."""

    message: str  #: one line; empty for a shut-down by the guest
    exit_code: int
    hurried: bool = False  #: the reader of the output must not be waited for
    idle: bool = False  #: the guest still waits: hardware would go on for ever

    @property
    def is_error(self) -> bool:
        """Whether the message belongs on stderr."""
        return self.exit_code in (ExitCode.GUEST_FATAL, ExitCode.CONSOLE_CLOSED)


SHUTDOWN = Ending("", ExitCode.OK)
SIMULATED_TIME = Ending(
    "Info: Simulation is stopping. Reason: Simulated time has been exceeded.", ExitCode.OK
)
# An FVP names CPU time for --timelimit too.
HOST_TIME = Ending(
    "Info: Simulation is stopping. Reason: CPU time has been exceeded.", ExitCode.OK, hurried=True
)


def interrupted_ending(interrupted: Interrupted) -> Ending:
    """Return the end that a signal or the wall-clock limit brings."""
    if interrupted.signal == WALL_CLOCK:
        return HOST_TIME
    return Ending("Info: Simulation stopped by user.", 128 + interrupted.signal, hurried=True)


def fatal_ending(error: GuestFatal) -> Ending:
    """Return the end that the guest brought on itself."""
    message = f"Error: the simulated core cannot go on: {error}"
    return Ending(message, ExitCode.GUEST_FATAL, idle=isinstance(error, Idle))
