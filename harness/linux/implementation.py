"""An implementation on Linux: a program file of the user's, and the command line that is typed for it."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from harness.errors import UsageError

MODEL, INPUTS, INFERENCES, OUTPUT = "model", "inputs", "inferences", "output"
_REQUIRED = (MODEL, INPUTS, INFERENCES)
_ALLOWED = (*_REQUIRED, OUTPUT)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MACHINE = "EM_AARCH64"


@dataclass(frozen=True)
class RunnerImplementation:
    """A runner by a name: its program, and its arguments with places for what the harness fills in."""

    name: str
    program: bytes
    arguments: tuple[str, ...]

    @property
    def writes_files(self) -> bool:
        """Whether it is told where to write its outputs; otherwise it must print them."""
        return any(f"{{{OUTPUT}}}" in argument for argument in self.arguments)

    def command(self, program: str, values: Mapping[str, str]) -> str:
        """The line for a shell; `program` is the path on the board, `values` has what places stand for."""
        filled = (_PLACEHOLDER.sub(lambda place: values[place[1]], each) for each in self.arguments)
        return shlex.join([program, *filled])


def parse_runner_implementations(texts: Iterable[str]) -> tuple[RunnerImplementation, ...]:
    """Implementations from `NAME=COMMAND` texts, two at least.

    Raises UsageError for another form, a name twice, a place that is unknown or missing, and a program that
    is no file or not for AArch64.
    """
    found: dict[str, RunnerImplementation] = {}
    for text in texts:
        name, separator, command = text.partition("=")
        if not name or not separator or not command.strip():
            raise UsageError(f"implementation {text!r} is not of the form NAME=COMMAND")
        if name in found:
            raise UsageError(f"the implementation name {name!r} is given twice")
        found[name] = _parse(name, command)
    if len(found) < 2:
        raise UsageError(
            f"a comparison on Linux needs two implementations, and {len(found)} is given",
            hint="--implementation before='./OLD --model_path {model} ...' --implementation after='...'",
        )
    return tuple(found.values())


def _parse(name: str, command: str) -> RunnerImplementation:
    try:
        program, *arguments = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"implementation {name!r}: {command!r} is no command: {error}") from error
    places = [place for argument in arguments for place in _PLACEHOLDER.findall(argument)]
    for place in places:
        if place not in _ALLOWED:
            raise UsageError(
                f"implementation {name!r}: unknown place {{{place}}}; allowed: {_braced(_ALLOWED)}"
            )
    if missing := [place for place in _REQUIRED if place not in places]:
        raise UsageError(
            f"implementation {name!r} has no place for {_braced(missing)}",
            hint="such as --model_path {model} --inputs {inputs} --num_executions {inferences}",
        )
    return RunnerImplementation(name, _read_program(name, Path(program).expanduser()), tuple(arguments))


def _braced(places: Iterable[str]) -> str:
    return ", ".join(f"{{{place}}}" for place in places)


def _read_program(name: str, path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"implementation {name!r}: its program {path}: {error.strerror}") from error
    try:
        machine = ELFFile(io.BytesIO(data))["e_machine"]
    except ELFError as error:
        raise UsageError(
            f"implementation {name!r}: its program {path} is no ELF file: {error}",
            hint="the first word is the runner itself, built for aarch64-linux; scripts are not taken",
        ) from error
    if machine != _MACHINE:
        raise UsageError(
            f"implementation {name!r}: its program {path} is for {machine}, not for {_MACHINE}",
            hint="build it for aarch64-linux, statically linked where the image lacks its libraries",
        )
    return data
