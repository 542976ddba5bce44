"""A run of a model with consoles of its own: started, attached to, booted, listened to, and stopped.

The model stands still from the moment that its ports are known until all consoles are attached, so that no
early output is lost. All consoles and its own output are read all the time, since a model stops when nobody
reads them.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from harness.boards.boot import boot_to_firmware
from harness.boards.config import BoardConfig
from harness.boards.terminals import announced_ports, called_back_ports
from harness.boards.watch import Watch
from harness.console.channel import Channel, socket_channel, stdout_channel
from harness.console.journal import Journal
from harness.errors import BoardError
from harness.processes import Interrupted, Process, interrupted, kill_group, terminate

PROGRAM = "model"  #: the name of the model's own output among the consoles
_POLL_SECONDS = 0.02
_STOP = (signal.SIGINT, signal.SIGTERM)  #: the first has a model print its statistics; SIGKILL comes last


@dataclass
class Session:
    """A running model, its consoles attached."""

    config: BoardConfig
    process: Process
    journal: Journal
    watch: Watch
    ports: dict[str, int] = field(default_factory=dict)  #: of each console, by its role
    consoles: dict[str, Channel] = field(default_factory=dict)
    logs: Path | None = None  #: the folder that the journal is saved to
    drains: list[threading.Thread] = field(default_factory=list)  #: which read what nobody waits for

    @property
    def records(self) -> Channel:
        """The console that carries the records and takes what is typed."""
        return self.consoles[self.config.records]

    def lines(self) -> Iterator[bytes]:
        """What the records' console prints once the firmware has been started, up to its end."""
        timeouts = self.config.timeouts
        yield from self.records.lines(
            first_within=timeouts.start_seconds, all_within=timeouts.run_seconds, ends_with_eot=True
        )

    def ended(self) -> int | None:
        """The model's exit status when it ends by itself in time; None when it had to be stopped."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(self.config.timeouts.stop_seconds)
        return None


@contextlib.contextmanager
def open_session(
    start: Callable[[], AbstractContextManager[Process]],
    config: BoardConfig,
    folder: Path,
    watch: Watch,
    logs: Path | None = None,
) -> Iterator[Session]:
    """Start a model that works in `folder`, and attach to all of its consoles; on leaving it is stopped.

    The journal is saved to the folder `logs`, however the run ends.

    Raises BoardError when it ends before, or does not offer its consoles in time.
    """
    journal = Journal(watch.hear)
    with start() as process, contextlib.ExitStack() as stack:
        session = Session(config, process, journal, watch, logs=logs)
        stack.callback(_end, session)
        _drain(session, stdout_channel(PROGRAM, process.stdout, journal))
        session.ports.update(_ports(session, folder))
        kill_group(process, signal.SIGSTOP)
        for role, port in session.ports.items():
            session.consoles[role] = _attach(session, role, port)
        for role, channel in session.consoles.items():
            if role != config.records:
                _drain(session, channel)
        kill_group(process, signal.SIGCONT)
        yield session


def died(config: BoardConfig, status: int, due: str, journal: Journal) -> BoardError:
    """The error of a program that ended before something that was due."""
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    return BoardError(f"board {config.name} {how} before {due}", evidence=journal.tail())


def boot(session: Session) -> None:
    """Bring the board to where the firmware starts."""
    if session.config.boot is not None:
        boot_to_firmware(session.records, session.config, session.config.boot)


def _end(session: Session) -> None:
    """Stop the model, and let go of its consoles when nobody reads them any more.

    A thread that still read would read from whoever is given the same file descriptor next.
    """
    kill_group(session.process, signal.SIGCONT)  # what stands still hears no other signal
    terminate(session.process, within_seconds=session.config.timeouts.stop_seconds, signals=_STOP)
    kill_group(session.process, signal.SIGKILL)
    session.process.wait()
    for thread in session.drains:
        thread.join(session.config.timeouts.stop_seconds)
    for channel in session.consoles.values():
        channel.close()
    if session.logs is not None:
        session.journal.save(session.logs)


def _drain(session: Session, channel: Channel) -> None:
    thread = threading.Thread(target=channel.drain, name=f"drain-{channel.name}", daemon=True)
    session.drains.append(thread)
    thread.start()


def _attach(session: Session, role: str, port: int) -> Channel:
    try:
        return socket_channel(role, port, session.journal, session.watch.checker(session.journal))
    except OSError as error:
        raise BoardError(
            f"board {session.config.name}: its {role} console on port {port} cannot be reached: "
            f"{error.strerror or error}",
            evidence=session.journal.tail(),
        ) from error


def _ports(session: Session, folder: Path) -> Mapping[str, int]:
    """The port of every console. Waits for them as long as the model lives and the deadline allows."""
    config, journal = session.config, session.journal
    deadline = time.monotonic() + config.timeouts.start_seconds
    check = session.watch.checker(journal)
    while True:
        ended = session.process.poll()
        found = {
            **announced_ports(config.consoles, journal.of(PROGRAM)),
            **called_back_ports(config.consoles, folder),
        }
        check()
        if interrupted():
            raise Interrupted
        missing = [role for role in config.consoles if role not in found]
        if not missing and ended is None:
            return found
        if ended is not None:
            raise died(config, ended, "it offered its consoles", journal)
        if time.monotonic() >= deadline:
            raise BoardError(
                f"board {config.name} did not say within {config.timeouts.start_seconds:g} s on which port "
                f"its {' and '.join(missing)} console is",
                evidence=journal.tail(),
            )
        time.sleep(_POLL_SECONDS)
