"""The stand-in's main program: questions answered, or one run from its command line to its exit status."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from socket import socket

from harness.sim.interruption import WALL_CLOCK, Interrupted, Interruption
from harness.sim.output import ConsoleClosed, offer
from harness.testing.behaviour import Behaviour, read_behaviour
from harness.testing.fvp import texts
from harness.testing.fvp.announcements import announce
from harness.testing.fvp.commandline import CommandLineError, Options, parse_command_line, parser
from harness.testing.fvp.lifecycle import live
from harness.testing.fvp.mishaps import Moment, reach
from harness.testing.fvp.model import STDERR, STDOUT, Ended, Model
from harness.testing.fvp.parameters import (
    BOOT_ROM,
    NETWORKS,
    Parameter,
    ParameterError,
    list_instances,
    list_parameters,
    table_with,
)
from harness.testing.mock_fvp import PYTHON_HOME
from harness.testing.symptoms import Symptom

FAILED = 1
LINGERING = (
    "import signal, time\n"
    "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
    "time.sleep(60)\n"
)


def main() -> int:
    """Do what the command line says: the file of the behaviour, then the FVP's own arguments."""
    description, *arguments = sys.argv[1:]
    behaviour = read_behaviour(Path(description))
    if (obstacle := _obstacle(behaviour, Path(description).parent / PYTHON_HOME)) is not None:
        return _fail(obstacle)
    table = table_with(renamed=Symptom.RENAMED_PARAMETER in behaviour.symptoms)
    try:
        options = parse_command_line(arguments, table)
    except (CommandLineError, ParameterError) as error:
        return _fail(texts.error(str(error)))
    if options.question is not None:
        _write(STDOUT, _answer(options.question, behaviour, table))
        return 0
    for file in _needed_files(options):
        if not file.is_file():
            return _fail(texts.error(f"cannot open file '{file}'"))
    try:
        return _run(options, behaviour)
    except ConsoleClosed:
        return FAILED


def _needed_files(options: Options) -> Iterator[Path]:
    yield from (file.path for file in options.data)
    if boot_rom := options.parameters[BOOT_ROM]:
        yield Path(str(boot_rom))


def _run(options: Options, behaviour: Behaviour) -> int:
    interruption = Interruption()
    ignored = {
        signal.SIGINT: {Symptom.IGNORES_SIGNALS},
        signal.SIGTERM: {Symptom.IGNORES_SIGNALS, Symptom.IGNORES_SIGTERM},
    }
    caught = {WALL_CLOCK, signal.SIGINT}
    for number, symptoms in ignored.items():
        if symptoms & behaviour.symptoms:
            signal.signal(number, signal.SIG_IGN)
            caught.discard(number)
    limit = None if options.iris_server else options.host_limit
    with ExitStack() as resources:
        try:
            model = Model(options, behaviour, interruption)
            resources.callback(model.close)
            resources.enter_context(interruption.installed(limit, tuple(caught)))
            _play(model, resources)
        except OSError as error:
            return _fail(texts.error(f"{error.filename or 'terminal'}: {error.strerror}"))
        except Interrupted as interrupted:
            return _stop(model, interrupted)
        except Ended as ended:
            return _end(model, ended)
    return 0


def _play(model: Model, resources: ExitStack) -> None:
    options = model.options
    if not options.quiet:
        model.print(texts.banner(model.behaviour.first_line))
    if options.iris_server:
        _start_debug_server(model)
    reach(model, Moment.BEFORE_PORTS)
    _take_host_ports(model, resources)
    if model.has(Symptom.SURVIVING_CHILD):
        os.posix_spawn(sys.executable, [sys.executable, "-I", "-S", "-c", LINGERING], os.environ)
    announce(model)
    live(model)


def _end(model: Model, ended: Ended) -> int:
    if ended.text:
        model.print(ended.text)
    if ended.status == 0 and model.options.statistics:
        model.print(_statistics(model))
    return ended.status


def _stop(model: Model, interrupted: Interrupted) -> int:
    """End at a signal, without a wait for readers."""
    text = texts.limit(texts.HOST_TIME) if interrupted.signal == WALL_CLOCK else texts.STOPPED_BY_USER
    if model.options.statistics:
        text += _statistics(model)
    offer(STDOUT, bytearray(text.encode()))
    return 0


def _statistics(model: Model) -> str:
    elapsed = time.monotonic() - model.started
    return texts.statistics(elapsed, elapsed)


def _start_debug_server(model: Model) -> None:
    options = model.options
    if options.print_port_number:
        model.print(f"Iris server started listening to port {options.iris_port}\n")
    if options.host_limit is not None:
        model.print(texts.limit_ignored("--timelimit"))
    if options.simulated_limit is not None:
        model.print(texts.limit_ignored("--cyclelimit" if options.limit_is_cycles else "--simlimit"))


def _take_host_ports(model: Model, resources: ExitStack) -> None:
    """Listen on the host ports of the user network; nobody answers there."""
    for port in sorted(set(_host_ports(model))):
        listener = resources.enter_context(contextlib.closing(socket()))
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen()
        except OSError as error:
            model.complain(texts.error(f"user networking: host port {port}: {error.strerror}"))
            raise Ended(FAILED) from None


def _host_ports(model: Model) -> Iterator[int]:
    for network in NETWORKS:
        if model.parameter(f"{network}.userNetworking"):
            for pair in str(model.parameter(f"{network}.userNetPorts")).split(","):
                if pair:
                    yield int(pair.partition("=")[0])


def _obstacle(behaviour: Behaviour, own_home: Path) -> str | None:
    """Return what a model says that cannot even be loaded, or whose embedded Python cannot; else None."""
    if Symptom.E549 in behaviour.symptoms:
        return texts.UNCAUGHT
    home = os.environ.get("PYTHONHOME")
    is_own = home is not None and Path(home).resolve() == own_home
    is_foreign = "PYTHONPATH" in os.environ or (home is not None and not is_own)
    if (Symptom.FOREIGN_PYTHON in behaviour.symptoms and is_foreign) or (
        Symptom.NEEDS_PYTHONHOME in behaviour.symptoms and not is_own
    ):
        return texts.FOREIGN_PYTHON
    return None


def _answer(question: str, behaviour: Behaviour, table: Mapping[str, Parameter]) -> str:
    if question == "help":
        return parser().format_help()
    if question == "version":
        return texts.banner(behaviour.first_line)
    return (list_parameters(table) if question == "list_params" else list_instances(table)) + "\n"


def _fail(message: str) -> int:
    _write(STDERR, message)
    return FAILED


def _write(descriptor: int, text: str) -> None:
    with os.fdopen(descriptor, "w", closefd=False) as stream:
        stream.write(text)
