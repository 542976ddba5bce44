"""Checking a board without starting it: its variables, its files, its program and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.boards.board import BUILT_IN, chosen_parameters
from harness.boards.config import BoardConfig, expanded
from harness.boards.executable import find_executable
from harness.boards.parameters import check_parameters, program_version
from harness.boards.workspace import Value
from harness.errors import HarnessError, UsageError


@dataclass(frozen=True)
class Checked:
    """One part of a board: what was found, or what is wrong."""

    what: str
    found: str = ""
    error: HarnessError | None = None


def check_board_files(config: BoardConfig, parameters: Mapping[str, Value]) -> tuple[Checked, ...]:
    """Every part that can be looked at, whatever is wrong with the others."""
    files = _check("files", lambda: _files(config))
    if config.executable == BUILT_IN:
        return Checked("board file", config.name), files
    program = _check("program", lambda: str(find_executable(config)))
    if program.error is not None:
        return Checked("board file", config.name), files, program
    executable = Path(program.found)
    return (
        Checked("board file", config.name),
        files,
        program,
        _check("version", lambda: program_version(config, executable).text),
        _check("parameters", lambda: _parameters(config, executable, parameters)),
    )


def _check(what: str, check: Callable[[], str]) -> Checked:
    try:
        return Checked(what, check())
    except HarnessError as error:
        return Checked(what, error=error)


def _files(config: BoardConfig) -> str:
    full = expanded(config)
    named = {name: str(full.parameters[name]) for name in config.copies}
    named |= {memory: data.file for memory, data in full.data.items()}
    for key, file in named.items():
        if not Path(file).is_file():
            raise UsageError(f"{key} names the file {file}, which does not exist")
    return f"{len(named)} found" if named else "it needs none"


def _parameters(config: BoardConfig, executable: Path, parameters: Mapping[str, Value]) -> str:
    chosen = chosen_parameters(config, config.npu.macs, parameters)
    check_parameters(config, executable, chosen)
    return f"all {len(chosen)} are known"
