"""The running model: its terminals, its stdout and its time, which all wait for each other.

A model that nobody reads stands still, as a real one does: every write waits for its reader, but a terminal
without a client, whose output is kept. Everything that waits does so in `wait`, where the clients are served
and signals are noticed.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.sim.interruption import Interruption
from harness.sim.output import send
from harness.sim.terminal import Terminal, TerminalSettings
from harness.testing.behaviour import Behaviour
from harness.testing.fvp import texts
from harness.testing.fvp.commandline import Options
from harness.testing.fvp.parameters import TERMINALS, UARTS, Value
from harness.testing.fvp.wire import Wire
from harness.testing.symptoms import Symptom

STDOUT, STDERR = 1, 2
EOT = b"\x04"
RECEIVE_FIFO = 16  # bytes, of a PL011
SMALL_BUFFER = 1 << 16  # bytes that the kernel is to keep for the client of a chatty console
BETWEEN_PIECES = 0.001  # seconds, so that they are seen as two
LOOKALIKES = {"sec_host_terminal_0": 0, "host_terminal_00": 1}
"""Names of `Symptom.SUBSTRING_NAMES` → their place in the order of announcements."""


class Ended(Exception):
    """The simulation is over, with this exit status; `text` goes to stdout first."""

    def __init__(self, status: int, text: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class Model:
    """One run."""

    def __init__(self, options: Options, behaviour: Behaviour, interruption: Interruption) -> None:
        """Open the terminals' ports; raises OSError."""
        self.options = options
        self.behaviour = behaviour
        self.interruption = interruption
        self.started = time.monotonic()
        self.terminals = self._open_terminals()
        self._wires = {name: Wire(behaviour.symptoms) for name in TERMINALS}
        self._recent = dict.fromkeys(TERMINALS, b"")
        self._files = {
            name: self._open(str(self.parameter(f"{uart}.out_file"))) for name, uart in UARTS.items()
        }

    def has(self, symptom: Symptom) -> bool:
        """Whether the model has this symptom."""
        return symptom in self.behaviour.symptoms

    def parameter(self, name: str) -> Value:
        """The value of a parameter."""
        return self.options.parameters[name]

    # ---- stdout and stderr

    def print(self, text: str) -> None:
        """Write to stdout, and wait for whoever reads it."""
        with self.interruption.interruptible():
            send(STDOUT, bytearray(text.encode()))

    def complain(self, text: str) -> None:
        """Write to stderr, and wait for whoever reads it."""
        with self.interruption.interruptible():
            send(STDERR, bytearray(text.encode()))

    # ---- consoles

    def say(self, console: str, text: str) -> None:
        """Show one line of boot text."""
        for number, piece in enumerate(self._wires[console].line(text)):
            if number:
                self.wait(BETWEEN_PIECES)
            self.transmit(console, piece)

    def transmit(self, console: str, data: bytes) -> None:
        """Send bytes as the UART does, and end the simulation where they ask for that."""
        self.deliver(console, data)
        self.heed(console, data)

    def deliver(self, console: str, data: bytes) -> None:
        """Send bytes to the terminal and the UART's file."""
        terminal = self.terminals[console]
        for piece in self._wires[console].pieces(data):
            self.service()
            if self.has(Symptom.EARLY_OUTPUT_LOST) and not terminal.connected:
                continue
            terminal.write(piece)
            self.service()
            self.wait(None, lambda: not (terminal.pending and terminal.connected))
        if (file := self._files[console]) is not None:
            with self.interruption.interruptible():
                send(file, bytearray(data))

    def heed(self, console: str, data: bytes) -> None:
        """Raise Ended when the UART's parameters say that `data` ends the simulation."""
        uart = UARTS[console]
        if (
            self.parameter(f"{uart}.shutdown_on_eot")
            and EOT in data
            and not self.has(Symptom.STAYS_AFTER_EOT)
        ):
            raise Ended(0)
        if tag := str(self.parameter(f"{uart}.shutdown_tag")).encode():
            recent = self._recent[console] + data
            if tag in recent:
                raise Ended(0)
            self._recent[console] = recent[-len(tag) :]

    def read_byte(self, console: str, seconds: float | None) -> int | None:
        """Return what was typed next, None when nothing was in time."""
        received = self.terminals[console].received
        return received.pop(0) if self.wait(seconds, lambda: bool(received)) else None

    def wait_for_client(self, console: str) -> None:
        """Wait until somebody has connected to a console."""
        self.wait(None, lambda: self.terminals[console].connected)

    def hang_up(self, console: str) -> None:
        """Close the connection to the console's client."""
        self.terminals[console].hang_up()

    # ---- time

    def wait(self, seconds: float | None, ready: Callable[[], bool] = lambda: False) -> bool:
        """Serve the terminals until `ready`, or for some seconds; return whether it became ready.

        Raises Interrupted, and Ended when the limit of simulated time is reached.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while not ready():
            left = self._left(end)
            if left == 0:
                return False
            self._serve(left)
        return True

    def wait_for(self, descriptor: int) -> None:
        """Serve the terminals until `descriptor` can be read; raises as `wait`."""
        while descriptor not in self._serve(self._left(None), descriptor):
            pass

    def service(self) -> None:
        """Exchange with all clients what can be exchanged without a wait."""
        for terminal in self.terminals.values():
            terminal.service()
            if self.has(Symptom.SLOW_CONSOLE):
                del terminal.received[RECEIVE_FIFO:]

    def simulated_left(self) -> float | None:
        """Seconds of simulated time up to the limit; those so far went by with the host's."""
        limit = None if self.options.iris_server else self.options.simulated_limit
        return None if limit is None else max(limit - (time.monotonic() - self.started), 0.0)

    def limit_reached(self) -> Ended:
        """The end that the limit of simulated time brings."""
        cycles = self.options.limit_is_cycles
        return Ended(0, texts.limit(texts.CYCLES if cycles else texts.SIMULATED_TIME))

    def close(self) -> None:
        """Close the terminals, whatever their clients have not taken yet."""
        for terminal in self.terminals.values():
            terminal.close()

    def _serve(self, seconds: float | None, *others: int) -> list[Any]:
        """Wait for clients, or until one of the `others` can be read; return what can be read."""
        awaited = [terminal.awaited() for terminal in self.terminals.values()]
        reading: list[Any] = [sock for sockets, _ in awaited for sock in sockets]
        writing = [sock for _, sockets in awaited for sock in sockets]
        with self.interruption.interruptible():
            readable, _, _ = select.select([*reading, *others], writing, [], seconds)
        self.service()
        return readable

    def _left(self, end: float | None) -> float | None:
        simulated = self.simulated_left()
        if simulated == 0:
            raise self.limit_reached()
        own = None if end is None else max(end - time.monotonic(), 0.0)
        return min((left for left in (own, simulated) if left is not None), default=None)

    def _open_terminals(self) -> dict[str, Terminal]:
        """The terminals by their names, in the order in which they are announced."""
        opened = [self._terminal(name) for name in TERMINALS]
        if self.has(Symptom.SUBSTRING_NAMES):
            for name, place in LOOKALIKES.items():
                opened.insert(place, Terminal(TerminalSettings(name, start_port=0, start_telnet=False)))
        return {terminal.settings.name: terminal for terminal in opened}

    def _terminal(self, name: str) -> Terminal:
        start = TERMINALS[name]
        values: Mapping[str, Value] = {
            key: self.parameter(f"{start}.{key}")
            for key in ("start_port", "start_telnet", "terminal_command", "mode", "quiet")
        }
        return Terminal(
            TerminalSettings(
                name,
                start_port=int(values["start_port"]),
                start_telnet=bool(values["start_telnet"]),
                terminal_command=str(values["terminal_command"]),
                mode=str(values["mode"]),
                quiet=bool(values["quiet"]),
                greeting=self.has(Symptom.TELNET_BYTES),
                send_buffer=SMALL_BUFFER if self.has(Symptom.CHATTY) else 0,
            )
        )

    def _open(self, name: str) -> int | None:
        if not name:
            return None
        if name == "-":
            return STDOUT
        return os.open(Path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
