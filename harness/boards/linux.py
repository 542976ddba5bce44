"""A board that boots Linux: a disk of ours, the login, and a shell whose commands end with a status."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from harness.boards.board import Board
from harness.boards.budget import model_slot
from harness.boards.config import BoardConfig, Linux
from harness.boards.disk import write_disk
from harness.boards.session import open_session
from harness.boards.watch import Watch
from harness.boards.workspace import DISK, run_folder
from harness.console.channel import Channel
from harness.console.text import plain
from harness.errors import BoardError, ConsoleError, UsageError

LONGEST_LINE = 1000  #: characters; the line editor of BusyBox takes 1024 (FEATURE_EDITING_MAX_LEN)
_REFUSED = (rb"(?i)password:", rb"(?i)login incorrect")


@dataclass(frozen=True)
class Answer:
    """What a command printed, standard error included, and its exit status."""

    status: int
    output: str

    def tail(self, lines: int = 8) -> tuple[str, ...]:
        """The last non-empty lines of what it printed."""
        return tuple(line for line in self.output.splitlines() if line.strip())[-lines:]


class Shell:
    """A shell on a console. Escape sequences, echo and prompts are no part of an answer."""

    def __init__(self, console: Channel, character_delay: float = 0.0) -> None:
        """Take over a console on which a shell waits."""
        self._console = console
        self._delay = character_delay

    def run(self, command: str, *, within: float) -> Answer:
        """Type one line, and wait until it has been carried out.

        Raises UsageError when the line is longer than a shell takes, BoardError when it has no end within so
        many seconds, or the board dies meanwhile, and ConsoleError when something broke into its status.
        """
        # Typed in two parts, so that the echo of the line is neither of the marks.
        token = secrets.token_hex(4)
        line = f'echo "H""b{token}"; {command}; echo "H""e{token} $?"'
        if len(line) > LONGEST_LINE:
            raise UsageError(f"the command is too long for a shell on a console: {command[:60]!r}...")
        self._console.send(f"{line}\r", self._delay)
        what, mark = f"the end of `{command}`", token.encode()
        self._console.wait_for(
            b"Hb" + mark + rb"[\r\n]+",
            within=within,
            what=f"the start of `{command}`",
            hint="where typed text gets lost, set character_delay_seconds in [linux] of the board file",
        )
        self._console.wait_for(b"He" + mark + b" ", within=within, what=what)
        output = plain(self._console.before).decode("utf-8", errors="backslashreplace")
        self._console.wait_for(rb"[\r\n]", within=within, what=what)
        status = plain(self._console.before).decode("ascii", errors="backslashreplace")
        if not status.isdecimal():
            raise ConsoleError(f"the console broke the status of `{command}`: {status!r}")
        return Answer(int(status), output)


@contextlib.contextmanager
def open_linux(board: Board, files: Mapping[str, bytes]) -> Iterator[Shell]:
    """Boot, log in, and mount a disk with these files; the board is stopped when the block is left.

    Raises BoardError when the board does not come to its shell, lacks the device, or cannot mount the disk.
    """
    config, linux = board.config, linux_of(board.config)
    with model_slot(config), run_folder() as folder:
        disk = folder / DISK
        write_disk(disk, files)
        equipped = replace(board, parameters={**board.parameters, linux.disk_parameter: str(disk)})
        launch = equipped.launch(disk, folder)
        watch = Watch(config)
        with open_session(partial(board.start, launch), config, folder, watch, board.log_folder()) as session:
            shell = log_in(session.records, config)
            prepare_shell(shell, config, next(iter(files)))
            yield shell


def linux_of(config: BoardConfig) -> Linux:
    """What the board file says of its Linux. Raises UsageError for a board without."""
    if config.linux is None:
        raise UsageError(f"board {config.name} boots no Linux")
    return config.linux


def log_in(console: Channel, config: BoardConfig) -> Shell:
    """Wait for the login, and log in. Raises BoardError, with the last lines of all consoles."""
    linux, timeouts = linux_of(config), config.timeouts
    console.wait_for(
        linux.login.encode(),
        within=timeouts.boot_seconds,
        what="a login",
        hint="the lines above are the last of each console; raise boot_seconds where it was still booting",
    )
    console.send(f"{linux.user}\r", linux.character_delay_seconds)
    prompt = linux.prompt.encode()
    found = console.wait_for(prompt, *_REFUSED, within=timeouts.start_seconds, what="a shell's prompt")
    if found:
        raise BoardError(
            f"board {config.name}: {linux.user} cannot log in without a password",
            hint="give another user in [linux] of a board file, or build the image with an empty password",
        )
    return Shell(console, linux.character_delay_seconds)


def prepare_shell(shell: Shell, config: BoardConfig, expected_file: str) -> None:
    """Keep the kernel's messages off the console, check the NPU's device, and mount the disk.

    Raises BoardError that says which of these failed.
    """
    linux, within = linux_of(config), config.timeouts.start_seconds
    run = partial(shell.run, within=within)
    if (quiet := run("dmesg -n 1")).status:
        raise BoardError(f"board {config.name}: `dmesg -n 1` failed", evidence=quiet.tail())
    _check_device(shell, config, linux)
    mount = f"mkdir -p {linux.mount_point} && mount -t vfat -o ro {linux.disk_device} {linux.mount_point}"
    mounted = run(mount)
    if mounted.status or run(f"[ -f {linux.mount_point}/{expected_file} ]").status:
        why = "could not be mounted" if mounted.status else "is another disk than the harness's"
        raise BoardError(
            f"board {config.name}: {linux.disk_device} {why}",
            evidence=(*mounted.tail(), *run("cat /proc/partitions").tail()),
            hint="say in [linux] of a board file what the image calls the disk: disk_device, disk_parameter",
        )


def _check_device(shell: Shell, config: BoardConfig, linux: Linux) -> None:
    within = config.timeouts.start_seconds
    if not shell.run(f"[ -e {linux.device} ]", within=within).status:
        return
    if not shell.run(f"[ -e {linux.other_device} ]", within=within).status:
        raise BoardError(
            f"board {config.name}: its image has {linux.other_device} and no {linux.device}: "
            "it has the driver of upstream Linux, which the runners of ethos-u-linux-driver-stack cannot use",
            hint="build the image with the recipe arm-npu-ethosu, and without CONFIG_DRM_ACCEL_ARM_ETHOSU",
        )
    raise BoardError(
        f"board {config.name}: its image has no {linux.device}",
        evidence=shell.run("dmesg | grep -i ethos", within=within).tail(),
        hint="the NPU's kernel module is missing or did not find its device: see `dmesg` and `lsmod`",
    )
