"""A running stand-in, seen from outside: its process, its stdout and its consoles on sockets."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import select
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from pyfatfs.PyFat import PyFat
from pyfatfs.PyFatFS import PyFatFS

from harness.testing import MockFvp, Symptom

NORMAL, SECURE, ENCLAVE = "host_terminal_0", "host_terminal_1", "secenc_terminal"
TERMINALS = {NORMAL: "host.host_terminal_0", SECURE: "host.host_terminal_1", ENCLAVE: "se.secenc_terminal"}
ANNOUNCEMENT = re.compile(rb"([A-Za-z_]\w*): Listening for serial connection on port (\d+)(?=[^\d])")
PATIENCE = 20.0  # seconds, on a machine that is busy with other tests
PROMPT = "corstone1000# "


def parameter_options(parameters: Mapping[str, object]) -> list[str]:
    """Return the `-C` options that set parameters."""
    return [word for name, value in parameters.items() for word in ("-C", f"{name}={value}")]


def terminal_options(values: Mapping[str, object]) -> list[str]:
    """Return the same parameters for all three terminals, by default those of a raw socket on a free port."""
    chosen = {"start_port": 0, "start_telnet": 0, "mode": "raw"} | dict(values)
    names = {f"{terminal}.{name}": value for terminal in TERMINALS.values() for name, value in chosen.items()}
    return parameter_options(names)


def plain_environment() -> dict[str, str]:
    """Return the environment without what a model minds."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "PYTHONHOME", "PYTHONPATH")
    }


class Running:
    """One model that runs."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.stdout = b""
        self.stderr = b""
        self.shown: dict[str, bytes] = {}
        self.clients: dict[str, socket.socket] = {}

    def read_stdout(self, seconds: float) -> bool:
        """Take what comes on stdout next; return whether anything did."""
        descriptor = self.process.stdout.fileno()
        if not select.select([descriptor], [], [], seconds)[0]:
            return False
        data = os.read(descriptor, 1 << 16)
        self.stdout += data
        return bool(data)

    def ports(self, count: int = 3) -> dict[str, int]:
        """Return the ports as they are announced, once there are so many."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = {name.decode(): int(port) for name, port in ANNOUNCEMENT.findall(self.stdout)}
            if len(found) >= count or not self.read_stdout(deadline - time.monotonic()):
                return found
        raise AssertionError(self.stdout)

    def attach(self, *names: str, ports: Mapping[str, int] | None = None) -> None:
        """Connect to consoles, by default to all of them."""
        known = ports or self.ports()
        for name in names or TERMINALS:
            self.clients[name] = socket.create_connection(("127.0.0.1", known[name]), timeout=PATIENCE)
            self.shown[name] = b""

    def read_consoles(self, seconds: float) -> bool:
        """Take what comes on the consoles next; return whether anything did."""
        names = {client: name for name, client in self.clients.items()}
        if not names:
            return False
        ready = select.select(list(names), [], [], seconds)[0]
        for client in ready:
            data = b""
            with contextlib.suppress(ConnectionResetError):
                data = client.recv(1 << 16)
            self.shown[names[client]] += data
            if not data:
                self.clients.pop(names[client]).close()
        return bool(ready)

    def read_until_silence(self, seconds: float) -> None:
        """Take what comes on stdout and consoles until nothing does for so long."""
        silent_since = time.monotonic()
        while time.monotonic() < silent_since + seconds:
            if self.read_stdout(0) or self.read_consoles(0.02):
                silent_since = time.monotonic()

    def expect(self, console: str, *texts: str) -> str:
        """Wait for texts on a console, one after the other; return all that it has shown."""
        deadline = time.monotonic() + PATIENCE
        start = 0
        for text in texts:
            while (at := self.shown[console].find(text.encode(), start)) < 0:
                alive = self.read_consoles(max(deadline - time.monotonic(), 0))
                assert alive, f"no {text!r} on {console}: {self.shown}"
            start = at + len(text)
        return self.shown[console].decode(errors="replace")

    def type(self, text: str, console: str = NORMAL) -> None:
        """Type on a console."""
        self.shown[console] = b""
        self.clients[console].sendall(text.encode())

    def stop_at_prompt(self) -> None:
        """Stop U-Boot's countdown."""
        self.expect(NORMAL, "Hit any key")
        self.type(" ")
        self.expect(NORMAL, PROMPT)

    def do(self, command: str, prompt: str = PROMPT) -> str:
        """Have a command done at the prompt; return what it printed."""
        self.type(f"{command}\r")
        shown = self.expect(NORMAL, "\r\n", prompt)
        return shown.partition("\r\n")[2].removesuffix(prompt)

    def finish(self, seconds: float = PATIENCE) -> int:
        """Read everything to the end of the process; return its status."""
        deadline = time.monotonic() + seconds
        while self.clients and self.read_consoles(max(deadline - time.monotonic(), 0)):
            pass
        left = max(deadline - time.monotonic(), 0.1)
        rest, self.stderr = self.process.communicate(timeout=left)
        self.stdout += rest
        return self.process.returncode

    def silent_for(self, seconds: float) -> bool:
        """Whether neither console nor process does anything for so long."""
        return not self.read_consoles(seconds) and self.process.poll() is None

    def close(self) -> None:
        """Kill it and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr, *self.clients.values()):
            stream.close()


@pytest.fixture
def mock(tmp_path: Path) -> Callable[..., MockFvp]:
    """A function that makes a stand-in with symptoms, each in a folder of its own: two may start at once."""
    numbers = itertools.count()
    return lambda *symptoms, **choices: MockFvp(tmp_path / f"fvp{next(numbers)}", *symptoms, **choices)


@pytest.fixture
def run(mock: Callable[..., MockFvp], tmp_path: Path):
    """A function that starts a stand-in with symptoms; what it started is dead after the test."""
    started: list[Running] = []

    def start(
        *symptoms: Symptom,
        parameters: Mapping[str, object] | None = None,
        terminals: Mapping[str, object] | None = None,
        options: Sequence[str] = (),
        firmware: bool = True,
        env: Mapping[str, str] | None = None,
        **choices: object,
    ) -> Running:
        fvp = mock(*symptoms, **choices)
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        boots = fvp.firmware_arguments if firmware else ()
        process = subprocess.Popen(
            [
                fvp.executable,
                *terminal_options(terminals or {}),
                *boots,
                *parameter_options(parameters or {}),
                *options,
            ],
            cwd=folder,
            env=plain_environment() | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(Running(process))
        return started[-1]

    yield start
    for running in started:
        running.close()


@pytest.fixture
def booted(run: Callable[..., Running]) -> Callable[..., Running]:
    """A function that starts a stand-in as `run` does, attaches to it, and stops U-Boot at its prompt."""

    def boot(*symptoms: Symptom, **choices: object) -> Running:
        running = run(*symptoms, **choices)
        running.attach()
        running.stop_at_prompt()
        return running

    return boot


@pytest.fixture
def answer(mock: Callable[..., MockFvp], tmp_path: Path):
    """A function that runs a stand-in to its end, and returns status, stdout and stderr."""

    def ask(
        *arguments: str,
        symptoms: tuple[Symptom, ...] = (),
        env: Mapping[str, str] | None = None,
        own_python: bool = False,
        **choices: object,
    ) -> tuple[int, str, str]:
        fvp = mock(*symptoms, **choices)
        python = {"PYTHONHOME": str(fvp.python_home)} if own_python else {}
        done = subprocess.run(
            [fvp.executable, *arguments],
            cwd=tmp_path,
            env=plain_environment() | python | dict(env or {}),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        return done.returncode, done.stdout, done.stderr

    return ask


@pytest.fixture
def card(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a card's image with files; `partitioned` puts an MBR before it."""

    def write(files: Mapping[str, bytes], *, partitioned: bool = False) -> Path:
        image = tmp_path / "card.img"
        image.touch()
        volume = PyFat()
        volume.mkfs(str(image), fat_type=PyFat.FAT_TYPE_FAT16, size=16 << 20, label="TEST")
        volume.close()
        with PyFatFS(str(image)) as disk:
            for name, data in files.items():
                disk.makedirs("/" + name.rpartition("/")[0], recreate=True)
                disk.writebytes(f"/{name}", data)
        if partitioned:
            image.write_bytes(_master_boot_record(start=2048) + image.read_bytes())
        return image

    return write


def _master_boot_record(start: int) -> bytes:
    entry = struct.pack("<BBBBBBBBII", 0, 0, 0, 0, 0x0E, 0, 0, 0, start, 1 << 15)
    return (bytes(446) + entry + bytes(48) + b"\x55\xaa").ljust(start * 512, b"\0")


@pytest.fixture
def program() -> Callable[[str], bytes]:
    """A function that makes a flat program, which sends a text on UART0 and then waits for interrupts."""
    code = (
        0xD2A34A21,  #       mov  x1, #0x1a510000
        0x100000E2,  #       adr  x2, text
        0x38401443,  # next: ldrb w3, [x2], #1
        0x34000063,  #       cbz  w3, end
        0xB9000023,  #       str  w3, [x1]
        0x17FFFFFD,  #       b    next
        0xD503207F,  # end:  wfi
        0x17FFFFFF,  #       b    end
    )
    return lambda text: struct.pack(f"<{len(code)}I", *code) + text.encode() + b"\0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the stand-in's own tests to the proof: who uses it has tests of his own in every run."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and item.path.name != "test_documentation.py":
            item.add_marker(pytest.mark.proof)
