"""The ports on which a model offers its terminals: it calls back with them, or says them on its output.

With `start_port=0` the host picks a free port, and the model runs `terminal_command` with the number in place
of %port. Here that is a program that writes it into a file. Where a model does not do that, its announcement
is found in the bytes of its output: `[Info: MODEL: ]TERMINAL: Listening for serial connection on port N`, in
any order, maybe several on one line, maybe not yet complete.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.boards.config import Terminal

_RECORD_PORT = Path(__file__).with_name("record_port.py")
# The number ends where something else follows: until then the line may be half written.
_PORT_END = re.compile(rb"(on port \d+)(?=\D)")
_ANNOUNCED = re.compile(
    rb"(?<![\w.])(?P<terminal>\w+): Listening for serial connection on port (?P<port>\d+)\n"
)


def terminal_parameters(terminal: Terminal, role: str, folder: Path) -> Mapping[str, bool | int | str]:
    """The model's parameters that make it offer a terminal on a free port and call back with it."""
    command = shlex.join([sys.executable, "-I", "-S", str(_RECORD_PORT), str(_file(folder, role))])
    return {
        f"{terminal.terminal}.start_telnet": True,
        f"{terminal.terminal}.start_port": 0,
        f"{terminal.terminal}.mode": "raw",
        f"{terminal.terminal}.terminal_command": f"{command} %port",
    }


def called_back_ports(consoles: Mapping[str, Terminal], folder: Path) -> dict[str, int]:
    """The ports that have been called back so far, by the role of the console."""
    return {role: int(_file(folder, role).read_text()) for role in consoles if _file(folder, role).exists()}


def announced_ports(consoles: Mapping[str, Terminal], output: bytes) -> dict[str, int]:
    """The ports in what the model has printed so far, by the role of the console."""
    lines = _PORT_END.sub(rb"\1\n", output)  # what is announced next may follow without a line end
    announced = {match["terminal"].decode(): int(match["port"]) for match in _ANNOUNCED.finditer(lines)}
    names = {role: terminal.terminal.rsplit(".", 1)[-1] for role, terminal in consoles.items()}
    return {role: announced[name] for role, name in names.items() if name in announced}


def _file(folder: Path, role: str) -> Path:
    return folder / f"{role}.port"
