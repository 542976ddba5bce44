"""The UART's console with a terminal beside its file: each byte goes to both."""

from __future__ import annotations

import contextlib
import time

from harness.sim.interruption import Interrupted, Interruption
from harness.sim.terminal import Terminal
from harness.sim.uart import Console

MOST_WAITING = 16 << 20  # bytes that are kept for a client that has not come; then the guest waits too
LINGER = 10.0  # seconds that the end waits for a client to come, or to take something


class TerminalConsole(Console):
    """A console whose terminal delivers what its client takes, and holds the guest up as a full FIFO does."""

    def __init__(self, descriptor: int, interruption: Interruption, terminal: Terminal) -> None:
        super().__init__(descriptor, interruption)
        self.received = terminal.received
        self._terminal = terminal

    def flush(self) -> None:
        """Hand over every byte that somebody takes; raises as `Console.flush`."""
        terminal = self._terminal
        terminal.write(bytes(self.pending))
        super().flush()
        with self._interruption.interruptible():
            terminal.service()
            while terminal.pending and (terminal.connected or len(terminal.pending) > MOST_WAITING):
                terminal.wait(None)

    def abandon(self) -> None:
        """Hand over what is taken without a wait."""
        self._terminal.write(bytes(self.pending))
        super().abandon()
        self._terminal.service()

    def finish(self) -> None:
        """Wait for a client that has not taken everything: a short program ends before one can connect."""
        with contextlib.suppress(Interrupted), self._interruption.interruptible():
            self._linger()

    def _linger(self) -> None:
        end, left = time.monotonic() + LINGER, len(self._terminal.pending)
        while self._terminal.pending and time.monotonic() < end:
            self._terminal.wait(end - time.monotonic())
            if len(self._terminal.pending) < left:
                end, left = time.monotonic() + LINGER, len(self._terminal.pending)
