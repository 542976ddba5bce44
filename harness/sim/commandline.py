"""The command line: an FVP's options, turned into one frozen record."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from harness.sim.clock import NS_PER_SECOND
from harness.sim.parameters import Parameters, parse_parameters

DRAM_INSTANCE = "board.dram"


class CommandLineError(Exception):
    """The command line cannot be carried out; the message is one line for the user."""


@dataclass(frozen=True)
class DataFile:
    """A raw file that is copied into memory before the start."""

    path: Path
    address: int


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    parameters: Parameters
    application: Path | None
    data: tuple[DataFile, ...]
    list_parameters: bool
    version: bool
    time_limit: float | None  #: host seconds
    simulated_limit: int | None  #: simulated nanoseconds
    statistics: bool
    quiet: bool


class _Parser(argparse.ArgumentParser):
    # An FVP leaves with 1 where argparse leaves with 2, so the message goes to the one place that knows.
    def error(self, message: str) -> NoReturn:
        raise CommandLineError(message)


def _data_file(text: str) -> DataFile:
    source, at, location = text.rpartition("@")
    instance, equals, file = source.rpartition("=")
    if not at or not file:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form FILE@ADDRESS")
    if equals and instance != DRAM_INSTANCE:
        raise argparse.ArgumentTypeError(f"there is no memory '{instance}', only '{DRAM_INSTANCE}'")
    try:
        return DataFile(Path(file), int(location.rpartition(":")[2], 0))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{location}' is not an address") from None


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"a limit is a number of seconds above zero, not '{text}'")
    return value


def _nanoseconds(text: str) -> int:
    return round(_seconds(text) * NS_PER_SECOND)


def _parser() -> _Parser:
    parser = _Parser(
        prog="harness-sim",
        description="Runs an AArch64 ELF file on a simulated Corstone-1000 with Cortex-A320 and Ethos-U85.",
        allow_abbrev=False,
    )
    parser.add_argument("image", nargs="?", type=Path, metavar="FILE", help="the ELF file to run")
    parser.add_argument("-a", "--application", type=Path, metavar="FILE", help="the ELF file to run")
    parser.add_argument(
        "-C",
        "--parameter",
        action="append",
        default=[],
        dest="parameters",
        metavar="NAME=VALUE",
        help="set a parameter of the board; see --list-params",
    )
    parser.add_argument(
        "-d",
        "--data",
        action="append",
        default=[],
        type=_data_file,
        metavar=f"[{DRAM_INSTANCE}=]FILE@ADDRESS",
        help="copy a raw file into memory before the start",
    )
    parser.add_argument("-l", "--list-params", action="store_true", help="list the parameters and leave")
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    parser.add_argument("--timelimit", type=_seconds, metavar="S", help="end after S seconds of host time")
    parser.add_argument(
        "--simlimit", type=_nanoseconds, metavar="S", help="end after S seconds of simulated time"
    )
    parser.add_argument("-s", "--stat", action="store_true", help="print statistics at the end")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no banner and no NPU faults")
    return parser


def parse_command_line(arguments: list[str]) -> Options:
    """Return the options in `arguments`.

    Raises CommandLineError or ParameterError when they cannot be carried out, SystemExit(0) after `--help`.
    """
    found = _parser().parse_args(arguments)
    if found.image and found.application:
        raise CommandLineError(f"two applications: '{found.application}' and '{found.image}'")
    return Options(
        parameters=parse_parameters(found.parameters),
        application=found.application or found.image,
        data=tuple(found.data),
        list_parameters=found.list_params,
        version=found.version,
        time_limit=found.timelimit,
        simulated_limit=found.simlimit,
        statistics=found.stat,
        quiet=found.quiet,
    )
