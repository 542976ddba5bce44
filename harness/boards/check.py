"""Checking a board without starting it: its variables, its files, its program and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.boards.board import chosen_parameters, parameter_options
from harness.boards.config import BUILT_IN, BoardConfig, expanded
from harness.boards.executable import find_executable
from harness.boards.parameters import check_parameters, program_version
from harness.boards.simulator import PROGRAM
from harness.boards.workspace import Value
from harness.errors import HarnessError, UsageError
from harness.processes import run_tool

_READ_ONLY = ".fname"  #: the end of the names of parameters for a memory's contents
_SIMULATOR_SECONDS = 20


@dataclass(frozen=True)
class Checked:
    """One part of a board: what was found, or what is wrong."""

    what: str
    found: str = ""
    error: HarnessError | None = None


def check_board(config: BoardConfig, parameters: Mapping[str, Value]) -> tuple[Checked, ...]:
    """Every part that can be looked at, whatever is wrong with the others."""
    checked = (Checked("board file", config.name), _check("files", lambda: _files(config, parameters)))
    if config.executable == BUILT_IN:
        return *checked, _check("parameters", lambda: _simulator_parameters(config, parameters))
    program = _check("program", lambda: str(find_executable(config)))
    if program.error is not None:
        return *checked, program
    executable = Path(program.found)
    return (
        *checked,
        program,
        _check("version", lambda: program_version(config, executable).text),
        _check("parameters", lambda: _parameters(config, executable, parameters)),
    )


def _check(what: str, check: Callable[[], str]) -> Checked:
    try:
        return Checked(what, check())
    except HarnessError as error:
        return Checked(what, error=error)


def _files(config: BoardConfig, parameters: Mapping[str, Value]) -> str:
    full = expanded(config)
    chosen = {**full.parameters, **parameters}
    names = (*full.copies, *(name for name in chosen if name.endswith(_READ_ONLY)))
    named = {name: str(chosen[name]) for name in names}
    named |= {memory: data.file for memory, data in full.data.items()}
    missing = [
        f"{key} names the file {file}, which does not exist"
        for key, file in named.items()
        if not Path(file).is_file()
    ]
    if missing:
        raise UsageError(missing[0], evidence=tuple(missing[1:]))
    return f"{len(named)} found" if named else "it needs none"


def _parameters(config: BoardConfig, executable: Path, parameters: Mapping[str, Value]) -> str:
    chosen = chosen_parameters(config, config.npu.macs, parameters)
    check_parameters(config, executable, chosen, parameters)
    return f"all {len(chosen)} are known"


def _simulator_parameters(config: BoardConfig, parameters: Mapping[str, Value]) -> str:
    """Have the simulator read them: it looks at all of them before it says its version."""
    chosen = chosen_parameters(config, config.npu.macs, parameters)
    done = run_tool((*PROGRAM, *parameter_options(chosen), "--version"), timeout_seconds=_SIMULATOR_SECONDS)
    if done.status != 0:
        raise UsageError(f"board {config.name}: {done.output.strip().removeprefix('Error: ')}")
    return f"all {len(chosen)} are known"
