"""The model as a program: its options, its texts, its exit statuses."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

from harness.testing.fvp.guest import Guest, Stopped
from harness.testing.fvp.output import say
from harness.testing.fvp.parameters import TERMINALS, BadParameter, Values, all_parameters, parse_values
from harness.testing.fvp.terminal import Terminal
from harness.testing.mock_fvp import DESCRIPTION_VARIABLE, EXECUTABLE, Description, read_description
from harness.testing.symptoms import Symptom

MODEL = "FVP_Corstone_1000_A320"
_WITH_VALUE = ("-Q", "-M", "--quantum", "--min-sync-latency", "--plugin", "--iris-port", "--cyclelimit")
_FLAGS = ("-P", "--prefix", "-I", "--iris-server", "-A", "--iris-allow-remote", "-p", "--print-port-number")
_MORE_FLAGS = ("-R", "--run", "-S", "--cadi-server", "-L", "-K", "-i")
_LIMITS = {"cpulimit": "CPU time", "timelimit": "CPU time", "simlimit": "Simulated time"}
_PIECE_SECONDS = 0.2
_LATE_SECONDS = 0.4


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        say(f"Error: {message}")
        sys.exit(1)


def main(arguments: list[str]) -> int:
    """Do what the command line says, and return the exit status."""
    description = read_description(Path(os.environ[DESCRIPTION_VARIABLE]))
    if description.has(Symptom.E549):
        say(
            "Error: (E549) uncaught exception: libarmctmodel.so: cannot enable executable stack as shared "
            "object requires: Invalid argument"
        )
        return 1
    if "PYTHONHOME" in os.environ or "PYTHONPATH" in os.environ:
        say("Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding")
        return 1
    chosen = _parser().parse_args(arguments)
    if chosen.version:
        say(
            f"\nFast Models [{description.version}]\nCopyright 2000-2025 ARM Limited.\nAll Rights Reserved.\n"
        )
        return 0
    renamed = {"board.xnvm_size": "board.xnvm.size"} if description.has(Symptom.RENAMED_PARAMETER) else {}
    known = all_parameters(renamed)
    if chosen.list_params:
        say("\n".join(known[name].listing() for name in sorted(known)))
        return 0
    try:
        values = parse_values(known, [*_from_files(chosen.config_file), *chosen.parameter])
        _check_files(chosen, values)
    except BadParameter as error:
        say(f"Error: {error}")
        return 1
    return _Model(description, values, chosen).run()


def _parser() -> _Parser:
    parser = _Parser(prog=EXECUTABLE, allow_abbrev=False)
    parser.add_argument("image", nargs="?", metavar="FILE")
    parser.add_argument("-a", "--application", action="append", default=[])
    parser.add_argument("-d", "--data", action="append", default=[])
    parser.add_argument("-C", "--parameter", action="append", default=[])
    parser.add_argument("-f", "--config-file", action="append", default=[])
    parser.add_argument("-l", "--list-params", action="store_true")
    parser.add_argument("--list-instances", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("-s", "--stat", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")
    for limit in _LIMITS:
        parser.add_argument(f"--{limit}", type=float)
    for option in _WITH_VALUE:
        parser.add_argument(option)
    for flag in (*_FLAGS, *_MORE_FLAGS):
        parser.add_argument(flag, action="store_true")
    return parser


def _from_files(files: list[str]) -> list[str]:
    lines = (line.partition("#")[0].strip() for file in files for line in Path(file).read_text().splitlines())
    return [line for line in lines if line]


def _check_files(chosen: argparse.Namespace, values: Values) -> None:
    files = [text.partition("=")[2].rpartition("@")[0] for text in chosen.data]
    files += [value for name, value in values.given.items() if name.endswith((".fname", ".p_mmc_file"))]
    for file in files:
        if not Path(file).is_file():
            raise BadParameter(f"Can't stat {file}! (error 2)")


class _Model:
    """A simulation: its terminals, its guest, its end."""

    def __init__(self, description: Description, values: Values, chosen: argparse.Namespace) -> None:
        self._description = description
        self._values = values
        self._chosen = chosen
        self._stop = threading.Event()
        self._reason = ""
        self._status = 0

    def run(self) -> int:
        self._catch_signals()
        if not self._chosen.quiet:
            say(f"\nFast Models [{self._description.version}]\nCopyright 2000-2025 ARM Limited.\n")
        if self._description.has(Symptom.DIES_BEFORE_PORTS):
            return 1
        with contextlib.ExitStack() as stack:
            for port in self._forwarded_ports():
                try:
                    stack.enter_context(_forwarded(port))
                except OSError:
                    say(f"Error: hostbridge: port {port} is already in use")
                    return 1
            terminals = {path: Terminal(path, self._description, self._values) for path in TERMINALS}
            for terminal in terminals.values():
                stack.callback(terminal.close)
            if self._description.has(Symptom.SURVIVING_CHILD):
                subprocess.Popen(["/bin/sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done"])
            self._announce(terminals)
            self._simulate(terminals)
        return self._status

    def _simulate(self, terminals: dict[str, Terminal]) -> None:
        started = time.monotonic()
        guest = Guest(self._description, self._values, terminals, self._stop)
        thread = threading.Thread(target=self._run_guest, args=(guest,), daemon=True)
        thread.start()
        limits = [(getattr(self._chosen, name), text) for name, text in _LIMITS.items()]
        seconds, text = min(((limit, text) for limit, text in limits if limit), default=(None, ""))
        if self._description.has(Symptom.LIMIT_REACHED):
            seconds, text = self._description.boot_seconds, "CPU time"
        if not self._stop.wait(seconds):
            self._reason = f"Info: Simulation is stopping. Reason: {text} has been exceeded."
        guest.end()
        say(f"\n{self._reason or 'Info: /OSCI/SystemC: Simulation stopped by user.'}")
        if self._chosen.stat:
            _print_statistics(time.monotonic() - started)

    def _run_guest(self, guest: Guest) -> None:
        try:
            guest.run()
        except Stopped as stopped:
            self._status = stopped.status
            self._reason = stopped.reason
            self._stop.set()

    def _announce(self, terminals: dict[str, Terminal]) -> None:
        has = self._description.has
        if has(Symptom.LATE_PORTS):
            time.sleep(_LATE_SECONDS)
        silent = {Symptom.NO_CALLBACK, Symptom.LATE_PORTS, Symptom.GLUED_PORTS, Symptom.HALF_PORT}
        calls_back = not any(map(has, {*silent, Symptom.NEW_FORM, Symptom.MISSING_PORT}))
        for number, (path, terminal) in enumerate(terminals.items()):
            if has(Symptom.MISSING_PORT) and number == 1:
                continue
            if not self._values.is_set(f"{path}.quiet"):
                self._print_port(terminal)
            if calls_back:
                terminal.call_back()
        if has(Symptom.GLUED_PORTS):
            say("")

    def _print_port(self, terminal: Terminal) -> None:
        has = self._description.has
        prefix = f"INFO: {MODEL}: " if has(Symptom.NEW_FORM) else ""
        line = f"{prefix}{terminal.name}: Listening for serial connection on port {terminal.port}"
        if has(Symptom.HALF_PORT):
            say(line[:-2], end="")
            time.sleep(_PIECE_SECONDS)
            line = line[-2:]
        say(line, end="" if has(Symptom.GLUED_PORTS) else "\n")

    def _forwarded_ports(self) -> list[int]:
        names = ("board.hostbridge.userNetPorts", "board.virtio_net.hostbridge.userNetPorts")
        pairs = [pair for name in names for pair in self._values.text(name).split(",") if pair]
        return [int(pair.partition("=")[0]) for pair in pairs]

    def _catch_signals(self) -> None:
        ignore = self._description.has(Symptom.IGNORES_SIGNALS)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN if ignore else lambda _number, _frame: self._stop.set())


@contextlib.contextmanager
def _forwarded(port: int):  # type: ignore[no-untyped-def]  # a generator of nothing
    server = socket.socket()
    try:
        server.bind(("127.0.0.1", port))
        server.listen(1)
        yield
    finally:
        server.close()


def _print_statistics(seconds: float) -> None:
    say("--- FVP_Corstone_1000_A320 statistics: ---------------------------------------")
    say(f"Simulated time                          : {seconds:f}s")
    say(f"Wall time                               : {seconds:f}s")
    say("-------------------------------------------------------------------------------")
