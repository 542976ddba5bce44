"""A board that is a program: the built-in simulator, or a model that takes the same command line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from harness.boards.boot import IMAGE
from harness.boards.budget import model_slot
from harness.boards.config import BUILT_IN, BoardConfig, expanded
from harness.boards.executable import find_executable, program_environment
from harness.boards.parameters import check_parameters
from harness.boards.session import PROGRAM as PROGRAM_CONSOLE
from harness.boards.session import boot, died, open_session
from harness.boards.simulator import PROGRAM, start_simulator
from harness.boards.terminals import terminal_parameters
from harness.boards.watch import Watch
from harness.boards.workspace import DISK, Value, Workspace, prepare_workspace, run_folder
from harness.build.elf import read_elf
from harness.console.channel import ClosedError, stdout_channel
from harness.console.journal import Journal
from harness.console.protocol import RECORD_START
from harness.errors import BoardError, UsageError
from harness.processes import Process, started, terminate

_SUPERVISOR = (sys.executable, "-I", "-S", str(Path(__file__).with_name("supervisor.py")))

_COMPLETE = "the run was complete"

ParameterValue = Value


@dataclass(frozen=True)
class BoardRun:
    """What one run of an image left behind."""

    command: tuple[str, ...]
    console: bytes  #: of the console that carries the records, and then what the program itself printed


@dataclass(frozen=True)
class Launch:
    """A program ready to be started."""

    command: tuple[str, ...]
    folder: Path | None = None  #: where it works; None: anywhere
    environment: Mapping[str, str] | None = None  #: None: ours


@dataclass(frozen=True)
class Board:
    """A configured board. `parameters` come on top of the board file's and win over them."""

    config: BoardConfig
    macs: int
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    logs: Path | None = None  #: where each run leaves a folder with the logs of its consoles

    def run(self, image: Path, on_line: Callable[[bytes], None] | None = None) -> BoardRun:
        """Run an image, an ELF file, until the board ends, and return what it said.

        `on_line` is called with each line of the records' console as it comes. Raises BoardError when the
        board does not start, falls silent, runs over its time, or dies.
        """
        if self.config.entry.start == "linux":
            raise UsageError(
                f"board {self.config.name} boots Linux, and runs no image of ours",
                hint="`harness compare MODEL --implementation NAME=COMMAND` runs a runner of yours there",
            )
        try:
            if not self.config.consoles:
                return self._run_on_stdout(image, on_line or _ignore)
            with model_slot(self.config), run_folder() as folder:
                return self._run_on_consoles(self.launch(image, folder), folder, on_line or _ignore)
        except FileNotFoundError as error:
            raise BoardError(
                f"board {self.config.name}: {error}",
                hint="run `harness doctor` to see what is missing",
            ) from error

    def launch(self, image: Path, folder: Path) -> Launch:
        """Find the program, check what it is given, and put what a run needs into its folder.

        Raises BoardError for a program that is missing or too old, and UsageError for a parameter that it
        does not have, or a file that is not there.
        """
        config = expanded(self.config)
        workspace = self._workspace(config, image, folder)
        if config.executable == BUILT_IN:
            return Launch(self._command(PROGRAM, workspace.parameters, workspace.data, image), folder)
        executable = find_executable(config)
        check_parameters(config, executable, workspace.parameters, self.parameters)
        command = self._command((str(executable),), workspace.parameters, workspace.data, image)
        return Launch(command, folder, program_environment(executable, os.environ, config.environment))

    def command(self, image: Path) -> tuple[str, ...]:
        """The command line that runs an image on a board whose console is standard output."""
        program = PROGRAM if self.config.executable == BUILT_IN else (self.config.executable,)
        parameters = chosen_parameters(self.config, self.macs, self.parameters)
        return self._command(program, parameters, (), image)

    def _workspace(self, config: BoardConfig, image: Path, folder: Path) -> Workspace:
        """The run's folder with its copies, with the image in it as the board file wants it."""
        terminals = {
            name: value
            for role, terminal in config.consoles.items()
            for name, value in terminal_parameters(terminal, role, folder).items()
        }
        workspace = prepare_workspace(
            config, {**terminals, **chosen_parameters(config, self.macs, self.parameters)}, folder
        )
        if config.entry.start == "data":
            flat = folder / IMAGE
            flat.write_bytes(read_elf(image).flat())
            load = f"{flat}@{config.memory.load_address:#x}"
            return Workspace(folder, workspace.parameters, (*workspace.data, load))
        if config.boot is None:
            return workspace
        from harness.boards.disk import write_disk

        write_disk(folder / DISK, {IMAGE: read_elf(image).flat()})
        disk = {config.boot.disk_parameter: str(folder / DISK)}
        return Workspace(folder, {**workspace.parameters, **disk}, workspace.data)

    def _command(
        self, program: tuple[str, ...], parameters: Mapping[str, Value], data: tuple[str, ...], image: Path
    ) -> tuple[str, ...]:
        options = parameter_options(parameters)
        loads = [part for each in data for part in ("--data", each)]
        application = ("-a", str(image)) if self.config.entry.start == "application" else ()
        quiet = ("-q",) if self.config.source == "simulator" else ()
        return (*program, *options, *loads, *quiet, *application, *self.config.arguments)

    def _run_on_stdout(self, image: Path, on_line: Callable[[bytes], None]) -> BoardRun:
        command = self.command(image)
        timeouts = self.config.timeouts
        journal = Journal()
        with self.start(Launch(command)) as process:
            try:
                channel = stdout_channel(PROGRAM_CONSOLE, process.stdout, journal)
                for line in channel.lines(
                    first_within=timeouts.start_seconds, all_within=timeouts.run_seconds
                ):
                    on_line(line)
                status = process.wait()
            finally:
                terminate(process, within_seconds=timeouts.stop_seconds)
        if status != 0:
            raise died(self.config, status, _COMPLETE, journal)
        return BoardRun(command, journal.of(PROGRAM_CONSOLE))

    def _run_on_consoles(self, launch: Launch, folder: Path, on_line: Callable[[bytes], None]) -> BoardRun:
        """Three facts must agree: the program's status, that it reached no limit, and the records."""
        watch = Watch(self.config)
        with open_session(
            partial(self.start, launch), self.config, folder, watch, self.log_folder()
        ) as session:
            closed: ClosedError | None = None
            try:
                boot(session)
                for line in session.lines():
                    on_line(line)
            except ClosedError as error:
                closed = error  # whatever the model says of its end explains more
            status = session.ended()
        watch.hear_the_rest()
        watch.checker(session.journal)()
        if status:
            raise died(self.config, status, _COMPLETE, session.journal)
        if closed is not None:
            raise closed
        # A UART may be copied to the program's output as well: its records count once.
        program = session.journal.of(PROGRAM_CONSOLE).splitlines(keepends=True)
        said = b"".join(line for line in program if not line.startswith(RECORD_START))
        console = session.journal.of(self.config.records) + b"\n" + said
        return BoardRun(launch.command, console)

    def log_folder(self) -> Path | None:
        """A new folder for the logs of one run; None where nobody wants them."""
        if self.logs is None:
            return None
        self.logs.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"{self.config.name}-", dir=self.logs))

    def start(self, launch: Launch) -> AbstractContextManager[Process]:
        """The program, running; it is dead when the block is left."""
        # Standard error is part of the console: a program's last words are evidence.
        if self.config.executable == BUILT_IN:
            return start_simulator(launch.command[len(PROGRAM) :])
        command = (*_SUPERVISOR, *launch.command)
        return started(command, cwd=launch.folder, env=launch.environment, stderr=subprocess.STDOUT)


def chosen_parameters(config: BoardConfig, macs: int, given: Mapping[str, Value]) -> dict[str, Value]:
    """The board file's parameters, with the MAC count; what the user has given wins."""
    return {**config.parameters, config.npu.macs_parameter: macs, **given}


def parameter_options(parameters: Mapping[str, Value]) -> list[str]:
    """Parameters as a model's command line takes them."""
    texts = {
        name: str(int(value) if isinstance(value, bool) else value) for name, value in parameters.items()
    }
    return [part for name, text in texts.items() for part in ("-C", f"{name}={text}")]


def _ignore(_line: bytes) -> None:
    """What is done with a line that nobody wants to see."""
