"""The error tree. Every error the harness raises on purpose is one of these.

    HarnessError
    ├── UsageError       the caller's input is wrong: unknown model, mode or key
    │   └── UnlikeResults    two results that must not be held against each other
    ├── ModelError       the model cannot be run: compiler crash, operator left on the CPU, wrong MAC count
    ├── BuildError       the toolchain is missing or failed
    ├── BoardError       the board could not be used: missing, died, timed out, busy
    ├── ConsoleError     the console broke the record protocol: truncated, corrupt, foreign nonce
    └── FirmwareFault    the firmware reported an exception, an NPU fault or an inference timeout

A comparison that failed is a result, not an exception.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the `harness` command returns to its caller."""

    OK = 0  #: everything was compared and is equal
    FAILED = 1  #: a comparison failed
    USAGE = 2  #: the input is wrong
    INFRASTRUCTURE = 3  #: toolchain, board, simulator or console failed
    FAULT = 4  #: the firmware or the NPU reported a fault
    BUG = 70  #: a bug in the harness
    INTERRUPTED = 130  #: stopped by the user


class HarnessError(Exception):
    """Something went wrong that the harness foresaw.

    `str(error)` is one line: what was wrong and where. `hint` says what to do next; `evidence` holds the
    lines that prove it (a command and its first errors, the last lines of a console), most telling first.
    """

    exit_code: ExitCode = ExitCode.BUG

    def __init__(self, message: str, *, hint: str = "", evidence: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.hint = hint
        self.evidence = evidence


class UsageError(HarnessError):
    """The caller's input is wrong; the message says what is allowed."""

    exit_code = ExitCode.USAGE


class UnlikeResults(UsageError):
    """Results of unlike sources, MAC counts, compilers, models or versions; the message says which."""


class ModelError(HarnessError):
    """The model cannot be run on this NPU; the message names the model and the reason."""

    exit_code = ExitCode.USAGE


class BuildError(HarnessError):
    """The firmware could not be built; the evidence is the command and its first errors."""

    exit_code = ExitCode.INFRASTRUCTURE


class BoardError(HarnessError):
    """The board could not be used; the evidence is the command and the last console lines."""

    exit_code = ExitCode.INFRASTRUCTURE


class ConsoleError(HarnessError):
    """The console broke the record protocol; the message names the line."""

    exit_code = ExitCode.INFRASTRUCTURE


class FirmwareFault(HarnessError):
    """The firmware reported an exception, an NPU fault or a timeout; the message says where."""

    exit_code = ExitCode.FAULT
