"""Virtual time: one instruction takes a nanosecond, and a wait for the NPU may be skipped.

Nothing here reads the host's clock, so two runs of the same image have the same times to the last digit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line needs the unit, not the core
    from harness.sim.counting import InstructionCounter

NS_PER_SECOND = 1_000_000_000


class VirtualClock:
    """Nanoseconds since the start of the core; also the cycles of a 1 GHz NPU."""

    def __init__(self, counter: InstructionCounter) -> None:
        self._counter = counter
        self.skipped = 0  #: nanoseconds that no instruction stands for

    def now(self) -> int:
        """Return the time at the end of the block that is running."""
        return self._counter.retired + self.skipped

    def before(self, pc: int) -> int:
        """Return the time just before the instruction at `pc` of the block that is running."""
        return self._counter.retired_before(pc) + self.skipped

    def skip(self, nanoseconds: int) -> None:
        """Let time pass without instructions."""
        self.skipped += nanoseconds
