"""The stand-in's command line, as anybody may start it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

from harness.testing import MockFvp, Symptom

TERMINALS = ("host.host_terminal_0", "host.host_terminal_1", "se.secenc_terminal")
QUIET = [
    part for path in TERMINALS for part in ("-C", f"{path}.start_telnet=0", "-C", f"{path}.start_port=0")
]


@pytest.fixture
def fvp(tmp_path: Path):
    """A function that installs a stand-in and runs it to its end; its exit status and what it printed."""

    def run(*arguments: str, symptoms: tuple[Symptom, ...] = (), environment: dict[str, str] | None = None):
        executable = MockFvp(tmp_path / "fvp", *symptoms).executable
        done = subprocess.run(
            [executable, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=tmp_path,
            env={**os.environ, **(environment or {})},
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_it_says_its_version(fvp):
    code, text = fvp("--version")
    assert (code, "Fast Models [11.30.27 (Nov  1 2025)]" in text) == (0, True)


def test_it_lists_its_parameters(fvp):
    code, text = fvp("--list-params")
    assert code == 0
    assert re.search(r"^host\.ethosu\.num_macs=256 .*\(int, init-time\) default = '256'", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nix"], "unrecognized arguments: --nix"),
        (["-C", "nix=1"], "unknown parameter 'nix'"),
        (["-C", "host.ethosu.num_macs=many"], "'many' is no int"),
        (["-C", "nix"], "is not of the form"),
        (["--data", "board.flash0=none.wic@0x68000000"], "Can't stat none.wic! (error 2)"),
    ],
)
def test_what_it_does_not_know_ends_it_with_1(fvp, arguments, said):
    code, text = fvp(*arguments)
    assert (code, said in text) == (1, True), text


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHOME"])
def test_a_users_python_breaks_it(fvp, name):
    code, text = fvp("--version", environment={name: "/none"})
    assert (code, "Python" in text) == (1, True)


def test_a_limit_ends_it_with_0(fvp):
    code, text = fvp("--timelimit", "0.3", "--stat", *QUIET)
    assert (code, "Reason: CPU time has been exceeded." in text) == (0, True)
    assert "statistics: ---" in text


def test_a_terminal_without_a_command_is_an_xterm_without_a_display(fvp):
    ports = [part for path in TERMINALS for part in ("-C", f"{path}.start_port=0")]
    _, text = fvp("--timelimit", "0.2", *ports)
    assert text.count("Can't open display") == 3


def test_a_forwarded_port_that_is_taken_ends_it(fvp):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, text = fvp("-C", f"board.virtio_net.hostbridge.userNetPorts={port}=22", *QUIET)
    assert (code, f"port {port} is already in use" in text) == (1, True)


def test_a_port_that_is_taken_makes_it_try_the_next(tmp_path):
    executable = MockFvp(tmp_path / "fvp").executable
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        wanted = [*QUIET, "-C", f"{TERMINALS[0]}.start_port={port}", "--timelimit", "0.2"]
        text = subprocess.run([executable, *wanted], capture_output=True, text=True, cwd=tmp_path).stdout
    (announced,) = re.findall(r"host_terminal_0: Listening for serial connection on port (\d+)", text)
    assert int(announced) > port


def test_a_first_start_provisions_and_the_next_does_not(tmp_path):
    executable = MockFvp(tmp_path / "fvp").executable

    def enclave() -> bytes:
        with subprocess.Popen([executable, *QUIET], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as model:
            port = 0
            while not port:
                if found := re.search(r"secenc_terminal: .* port (\d+)", model.stdout.readline()):
                    port = int(found[1])
            with socket.create_connection(("127.0.0.1", port)) as terminal:
                text = b""
                deadline = time.monotonic() + 20
                while b"Booting TF-M" not in text and time.monotonic() < deadline:
                    text += terminal.recv(4096)
            model.terminate()
        return text

    assert enclave().count(b"Provisioning") == 2
    assert enclave().count(b"Provisioning") == 0
