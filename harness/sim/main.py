"""The program `harness-sim`: a command line in, a simulation, its exit code out."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness import __version__
from harness.sim.commandline import CommandLineError, Options, parse_command_line
from harness.sim.ending import ExitCode
from harness.sim.interruption import Interruption
from harness.sim.output import ConsoleClosed, offer, send
from harness.sim.parameters import NO_TERMINAL, ParameterError, Parameters, list_parameters

if TYPE_CHECKING:
    from harness.sim.machine import Machine
    from harness.sim.uart import Console

STDOUT, STDERR = 1, 2
TERMINAL = "host_terminal_0"
BANNER = f"harness-sim [{__version__}], a simulated Corstone-1000 with Cortex-A320 and Ethos-U85"


def main(arguments: list[str] | None = None) -> int:
    """Run the simulator with `arguments`, by default those of the process; return its exit code."""
    try:
        return _main(sys.argv[1:] if arguments is None else arguments)
    except ConsoleClosed:  # of stdout or stderr, so there is nobody to tell
        return ExitCode.CONSOLE_CLOSED


def _main(arguments: list[str]) -> int:
    try:
        options = parse_command_line(arguments)
    except (CommandLineError, ParameterError) as error:
        return _not_started(str(error))
    if options.version:
        _print(BANNER)
        return ExitCode.OK
    if options.list_parameters:
        _print(list_parameters())
        return ExitCode.OK
    if options.application is None:
        return _not_started("no application; give the ELF file to run")
    return _simulate(options, options.application)


def load_simulation() -> None:
    """Load what only a simulation needs, the core and numpy: --version and --list-params answer at once."""
    # Several simulators run side by side, and the threads of numpy's BLAS would wait for each other's cores
    # in busy loops: the products of a small network take twice the processor time with two of them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import harness.sim.image
    import harness.sim.machine
    import harness.sim.uart  # noqa: F401
    from harness.sim.native import native_hooks

    native_hooks()


def _simulate(options: Options, application: Path) -> int:
    from harness.errors import HarnessError

    try:
        load_simulation()
    except HarnessError as error:
        return _not_started(str(error))
    from harness.sim.image import ImageError
    from harness.sim.memory import MemoryMapError

    interruption = Interruption()
    with ExitStack() as files:
        try:
            machine, console = _build(options, application, interruption, files)
        except (ImageError, MemoryMapError) as error:
            return _not_started(str(error))
        except OSError as error:
            return _not_started(f"{error.filename or 'simulated memory'}: {error.strerror}")
        if not options.quiet:
            _print(BANNER)
        return _run(machine, console, options, interruption)


def _build(
    options: Options, application: Path, interruption: Interruption, files: ExitStack
) -> tuple[Machine, Console]:
    """Return the board, loaded and ready to run, and its console; `files` closes what they hold open."""
    from harness.sim.image import read_elf
    from harness.sim.machine import Machine

    descriptor = files.enter_context(_uart_output(options.parameters.uart_file))
    console = _console(options.parameters, descriptor, interruption, files)
    report = _silence if options.quiet else _complain
    machine = Machine(options.parameters, console, interruption, report)
    machine.start(read_elf(application))
    for file in options.data:
        machine.load(file.address, file.path.read_bytes(), f"'{file.path}'")
    return machine, console


def _console(
    parameters: Parameters, descriptor: int, interruption: Interruption, files: ExitStack
) -> Console:
    from harness.sim.uart import Console

    if parameters.terminal_start_port == NO_TERMINAL:
        return Console(descriptor, interruption)
    from harness.sim.terminal import Terminal, TerminalSettings
    from harness.sim.terminal_console import TerminalConsole

    terminal = Terminal(
        TerminalSettings(
            TERMINAL,
            parameters.terminal_start_port,
            parameters.terminal_start_telnet,
            parameters.terminal_command,
            parameters.terminal_mode,
            parameters.terminal_quiet,
        )
    )
    files.callback(terminal.close)
    if not terminal.settings.quiet:
        _print(terminal.announcement)
    if terminal.settings.start_telnet:
        terminal.run_command()
    return TerminalConsole(descriptor, interruption, terminal)


def _run(machine: Machine, console: Console, options: Options, interruption: Interruption) -> int:
    started = time.perf_counter()
    with interruption.installed(options.time_limit):
        ending = machine.run(options.simulated_limit)
        if not ending.hurried:
            console.finish()
    wall_time = time.perf_counter() - started
    if ending.is_error:
        _complain(ending.message)
    elif ending.message:
        _print(ending.message, hurried=ending.hurried)
    for remark in machine.remarks():
        _complain(remark, hurried=ending.hurried)
    if options.statistics:
        _print(str(machine.statistics(wall_time)), hurried=ending.hurried)
    return ending.exit_code


def _silence(_line: str) -> None:
    """Take the place of `_complain` under --quiet."""


@contextmanager
def _uart_output(name: str) -> Iterator[int]:
    if name == "-":
        yield STDOUT
        return
    with Path(name or os.devnull).open("wb", buffering=0) as file:
        yield file.fileno()


def _not_started(message: str) -> int:
    _complain(f"Error: {message}")
    return ExitCode.NOT_STARTED


# The UART writes to the same descriptors, so no line may wait in a buffer of sys.stdout or sys.stderr.
def _print(text: str, *, hurried: bool = False) -> None:
    (offer if hurried else send)(STDOUT, bytearray(f"{text}\n".encode()))


def _complain(text: str, *, hurried: bool = False) -> None:
    (offer if hurried else send)(STDERR, bytearray(f"{text}\n".encode()))
