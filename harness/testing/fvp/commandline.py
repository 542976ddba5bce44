"""The FVP's command line, turned into one frozen record.

The options are those of Fast Models, as ARM-software/AVH lists them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from harness.testing.fvp.parameters import Parameter, Value, parse_parameters

FLASH = "board.flash0"
CYCLES_PER_SECOND = 1e9
QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("-h", "--help"),
    ("--version",),
    ("-l", "--list-params"),
    ("--list-instances",),
)
FLAGS: tuple[tuple[str, ...], ...] = (
    ("-I", "--iris-server"),
    ("-A", "--iris-allow-remote"),
    ("-i", "--iris-log"),
    ("-p", "--print-port-number"),
    ("-R", "--run"),
    ("-S", "--cadi-server"),
    ("-L",),
    ("-K",),
)


class CommandLineError(Exception):
    """An option is unknown or its value makes no sense; the message is the model's."""


@dataclass(frozen=True)
class DataFile:
    """A raw file at an address; `instance` is the memory it is for, empty for the host's."""

    instance: str
    path: Path
    address: int


@dataclass(frozen=True)
class Options:
    """What was asked for; times are in seconds."""

    parameters: Mapping[str, Value]
    applications: tuple[Path, ...]
    data: tuple[DataFile, ...]
    question: str | None  #: help, version, list_params or list_instances: answered instead of a run
    statistics: bool
    quiet: bool
    iris_server: bool
    print_port_number: bool
    iris_port: int
    host_limit: float | None
    simulated_limit: float | None
    limit_is_cycles: bool


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CommandLineError(message)


def _data_file(text: str) -> DataFile:
    source, at, location = text.rpartition("@")
    instance, _, file = source.rpartition("=")
    try:
        address = int(location.rpartition(":")[2], 0)
    except ValueError:
        at = ""
    if not at or not file:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form [INST=]FILE@[MEMSPACE:]ADDRESS")
    return DataFile(instance, Path(file), address)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all options."""
    made = _Parser(prog="FVP", description="A stand-in for an Arm FVP.", allow_abbrev=False, add_help=False)
    add = made.add_argument
    add("files", nargs="*", metavar="FILE", help="application to load")
    add("-a", "--application", action="append", default=[], metavar="[INST=]FILE", help="application to load")
    add("-d", "--data", action="append", default=[], type=_data_file, metavar="[INST=]FILE@ADDRESS")
    add("-C", "--parameter", action="append", default=[], metavar="INST.PARAM=VALUE")
    add("-f", "--config-file", action="append", default=[], metavar="FILE", help="file of parameters")
    for question in QUESTIONS:
        name = question[-1].strip("-").replace("-", "_")
        add(*question, dest="question", action="store_const", const=name)
    add("-s", "--stat", action="store_true", help="print statistics at the end")
    add("-P", "--prefix", action="store_true", help="prefix output with the instance's name")
    add("-Q", "--quantum", type=int, metavar="N", help="ticks per quantum")
    add("-M", "--min-sync-latency", type=int, metavar="N", help="ticks")
    add("-q", "--quiet", action="store_true", help="no banner")
    add("--plugin", action="append", default=[], metavar="[NAME=]FILE")
    for flag in FLAGS:
        add(*flag, action="store_true")
    add("--iris-port", type=int, default=7100, metavar="N")
    for limit, unit in (
        ("--cpulimit", "host seconds of computing"),
        ("--timelimit", "host seconds"),
        ("--simlimit", "simulated seconds"),
        ("--cyclelimit", "cycles"),
    ):
        add(limit, type=float, metavar="N", help=unit)
    return made


def parse_command_line(arguments: list[str], table: Mapping[str, Parameter]) -> Options:
    """Return what `arguments` ask for; raises CommandLineError or ParameterError."""
    found = parser().parse_args(arguments)
    limits = [limit for limit in (found.timelimit, found.cpulimit) if limit is not None]
    simulated = found.simlimit
    if simulated is None and found.cyclelimit is not None:
        simulated = found.cyclelimit / CYCLES_PER_SECOND
    configured = [line for file in found.config_file for line in _config_lines(Path(file))]
    applications = [Path(text.rpartition("=")[2]) for text in (*found.application, *found.files)]
    _check_files([*applications, *(Path(text.rpartition("=")[2]) for text in found.plugin)])
    return Options(
        parameters=parse_parameters([*configured, *found.parameter], table),
        applications=tuple(applications),
        data=tuple(found.data),
        question=found.question,
        statistics=found.stat,
        quiet=found.quiet,
        iris_server=found.iris_server or found.cadi_server,
        print_port_number=found.print_port_number,
        iris_port=found.iris_port,
        host_limit=min(limits, default=None),
        simulated_limit=simulated,
        limit_is_cycles=found.simlimit is None,
    )


def _config_lines(file: Path) -> Iterator[str]:
    try:
        text = file.read_text()
    except OSError as error:
        raise CommandLineError(f"cannot read config file '{file}': {error.strerror}") from None
    for line in text.splitlines():
        assignment = line.partition("#")[0].strip()
        if assignment:
            name, equals, value = assignment.partition("=")
            yield name + equals + value.strip('"')


def _check_files(files: list[Path]) -> None:
    for file in files:
        if not file.is_file():
            raise CommandLineError(f"cannot open file '{file}'")
