"""UART0: the part of a PL011 that a polled console needs (Arm DDI 0183G, PrimeCell UART PL011).

The transmit FIFO is never full; what a terminal received waits to be read. When a fault was planned, the end
of the simulation says whether it came to happen: `harness-sim: uart0-fault byte=500 happened=yes`.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.sim.core import ExternalAbort
from harness.sim.interruption import Interruption
from harness.sim.output import offer, send

EOT = 4
NEWLINE = 10

DATA = 0x000
FLAGS = 0x018
TX_EMPTY, RX_EMPTY = 0x80, 0x10  # UARTFR.TXFE and UARTFR.RXFE

# UARTPeriphID0-3 and UARTPCellID0-3 of a PL011 r1p5, DDI 0183G section 3.3.
IDENTITY = dict(zip(range(0xFE0, 0x1000, 4), (0x11, 0x10, 0x34, 0x00, 0x0D, 0xF0, 0x05, 0xB1), strict=True))
# Registers that hold what was written, with their reset values: IBRD, FBRD, LCR_H, CR, IFLS, IMSC, DMACR.
SETTINGS = {0x024: 0, 0x028: 0, 0x02C: 0, 0x030: 0x300, 0x034: 0x12, 0x038: 0, 0x048: 0}


class Console:
    """A file descriptor that receives the UART's bytes.

    They wait in `pending`, because a system call for each would cost more than the guest code that sends it;
    the UART flushes after each line, the run loop after each slice of guest code.
    """

    def __init__(self, descriptor: int, interruption: Interruption) -> None:
        self.pending = bytearray()
        self.received = bytearray()  #: what was typed; nothing without a terminal
        self._descriptor = descriptor
        self._interruption = interruption

    def flush(self) -> None:
        """Hand over every byte; raises ConsoleClosed, or Interrupted while the reader lets us wait."""
        with self._interruption.interruptible():
            send(self._descriptor, self.pending)

    def abandon(self) -> None:
        """Hand over what the reader takes without a wait, for an end that may not be held up."""
        offer(self._descriptor, self.pending)

    def finish(self) -> None:
        """Wait for readers that are behind, when the simulation has ended by itself: here for none."""


class Uart:
    """The device, as seen through its register window.

    The write of byte `fault_after`, counted from one, is refused instead of carried out; zero lets all pass.
    """

    def __init__(self, console: Console, on_eot: Callable[[], None], fault_after: int = 0) -> None:
        self._console = console
        self._append = console.pending.append
        self._received = console.received
        self._on_eot = on_eot
        self._fault_after = fault_after
        self._until_fault = fault_after
        self._settings = dict(SETTINGS)

    @property
    def fault(self) -> str | None:
        """What is to be said of the planned fault, None when none was planned."""
        if not self._fault_after:
            return None
        happened = "yes" if self._until_fault <= 0 else "no"
        return f"harness-sim: uart0-fault byte={self._fault_after} happened={happened}"

    def read(self, offset: int) -> int:
        """Return a register; reserved registers, and DATA when nothing was typed, read as zero."""
        if offset == FLAGS:
            return TX_EMPTY if self._received else TX_EMPTY | RX_EMPTY
        if offset == DATA and self._received:
            return self._received.pop(0)
        return self._settings.get(offset, IDENTITY.get(offset, 0))

    def write(self, offset: int, value: int) -> None:
        """Write a register; raises as `Console.flush`, and ExternalAbort where a fault is due."""
        if offset == DATA:
            self._until_fault -= 1
            if not self._until_fault:
                raise ExternalAbort
            byte = value & 0xFF
            self._append(byte)
            if byte == NEWLINE:
                self._console.flush()
            elif byte == EOT:
                self._on_eot()
        elif offset in self._settings:
            self._settings[offset] = value & 0xFFFF
