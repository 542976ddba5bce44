"""Whether a board's program is here, and in which version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness import __version__
from harness.boards.config import BUILT_IN, BoardConfig
from harness.boards.executable import find_executable
from harness.boards.parameters import program_version
from harness.errors import HarnessError

State = Literal["found", "missing", "wrong version"]


@dataclass(frozen=True)
class FoundProgram:
    """A board's program: what it is, or why it cannot be used, and what helps."""

    state: State
    detail: str
    remedy: str = ""


def look_for_program(config: BoardConfig) -> FoundProgram:
    """Find a board's program and ask for its version. One that does not start has a wrong version."""
    if config.executable == BUILT_IN:
        return FoundProgram("found", f"{BUILT_IN} {__version__}")
    try:
        executable = find_executable(config)
    except HarnessError as error:
        looked = ", ".join(error.evidence)
        return FoundProgram("missing", f"no {config.executable}; looked in {looked}", error.hint)
    try:
        version = program_version(config, executable)
    except HarnessError as error:
        return FoundProgram("wrong version", str(error), error.hint)
    return FoundProgram("found", f"{executable.name} {version.text}")
