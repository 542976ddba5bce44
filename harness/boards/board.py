"""A board that is a program: the built-in simulator, or a model that takes the same command line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from harness.boards.config import BoardConfig
from harness.boards.simulator import PROGRAM, start_simulator
from harness.console.channel import open_channel
from harness.errors import BoardError
from harness.processes import Process, started

BUILT_IN = "harness-sim"  #: the executable that is the built-in simulator

ParameterValue = bool | int | str


@dataclass(frozen=True)
class BoardRun:
    """What one run of an image left behind."""

    command: tuple[str, ...]
    console: bytes
    status: int  #: the program's exit status; negative when a signal ended it


@dataclass(frozen=True)
class Board:
    """A configured board. `parameters` come on top of the board file's and win over them."""

    config: BoardConfig
    macs: int
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)

    def command(self, image: Path) -> tuple[str, ...]:
        """The command line that runs an image."""
        parameters = {
            **self.config.parameters,
            self.config.npu.macs_parameter: self.macs,
            **self.parameters,
        }
        options = [
            part for name, value in parameters.items() for part in ("-C", f"{name}={_parameter_text(value)}")
        ]
        return (*self._program, *options, "-q", "-a", str(image))

    def run(self, image: Path, on_line: Callable[[bytes], None] | None = None) -> BoardRun:
        """Run an image until the board ends by itself, and return its whole console.

        `on_line` is called with each line as it comes. Raises BoardError when the board does not start, falls
        silent, runs over its time, or dies.
        """
        command = self.command(image)
        timeouts = self.config.timeouts
        try:
            with open_channel(self._start(command), command, stop_seconds=timeouts.stop_seconds) as channel:
                for line in channel.lines(
                    first_within=timeouts.start_seconds, all_within=timeouts.run_seconds
                ):
                    if on_line is not None:
                        on_line(line)
                run = BoardRun(command, channel.log, channel.status)
                if run.status != 0:
                    raise self._died(run.status, (" ".join(command), *channel.tail()))
                return run
        except FileNotFoundError as error:
            raise BoardError(
                f"board {self.config.name}: {error}",
                hint="run `harness doctor` to see what is missing",
            ) from error

    @property
    def _program(self) -> tuple[str, ...]:
        return PROGRAM if self.config.executable == BUILT_IN else (self.config.executable,)

    def _start(self, command: tuple[str, ...]) -> AbstractContextManager[Process]:
        # Standard error is part of the console: a program's last words are evidence.
        if self.config.executable == BUILT_IN:
            return start_simulator(command[len(PROGRAM) :])
        return started(command, stderr=subprocess.STDOUT)

    def _died(self, status: int, evidence: tuple[str, ...]) -> BoardError:
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return BoardError(f"board {self.config.name} {how} before the run was complete", evidence=evidence)


def _parameter_text(value: ParameterValue) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
