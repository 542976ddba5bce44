"""The simulator's terminal: announced as an FVP announces it, and a TCP client's other end."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from harness.boards.simulator import PROGRAM
from harness.sim import telnet
from harness.sim.terminal import Terminal, TerminalSettings

HELLO = """
  adr x1, text
  next: ldrb w11, [x1], #1
  cbz w11, done
  load x12, UART
  str w11, [x12]
  b next
  done: finish
  text: .asciz "hello\\n"
  .balign 4
"""
# Sends what it receives, until that is a full stop.
ECHO = """
  load x12, UART
  wait: ldr w1, [x12, #0x18]
  tbnz w1, #4, wait
  ldr w11, [x12]
  str w11, [x12]
  cmp w11, #'.'
  b.ne wait
  finish
"""
PORT = re.compile(rb"host_terminal_0: Listening for serial connection on port (\d+)\n")


def terminal(**parameters):
    settings = {"start_port": 0, "mode": "raw"} | parameters
    return [
        word for name, value in settings.items() for word in ("-C", f"host.host_terminal_0.{name}={value}")
    ]


@contextmanager
def running(simulator, program, *arguments):
    with subprocess.Popen(simulator.command(program, *arguments), stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def connect(process):
    announced = PORT.fullmatch(process.stdout.readline())
    return socket.create_connection(("127.0.0.1", int(announced[1])), timeout=10)


def read_all(client):
    return b"".join(iter(lambda: client.recv(4096), b""))


def test_a_client_that_comes_late_gets_everything(simulator):
    with running(simulator, HELLO, *terminal(), "-C", "host.uart0.out_file=") as process:
        announced = PORT.fullmatch(process.stdout.readline())
        time.sleep(0.5)
        with socket.create_connection(("127.0.0.1", int(announced[1])), timeout=10) as client:
            assert read_all(client) == b"hello\n\x04"
        assert process.stdout.read() == b""
        assert process.wait(10) == 0


def test_the_file_gets_what_the_terminal_gets(simulator):
    with running(simulator, HELLO, *terminal()) as process, connect(process) as client:
        assert read_all(client) == b"hello\n\x04"
        assert process.stdout.read() == b"hello\n\x04"


def test_what_is_typed_reaches_the_uart(simulator):
    with running(simulator, ECHO, *terminal()) as process, connect(process) as client:
        client.sendall(b"abc")
        assert client.recv(3, socket.MSG_WAITALL) == b"abc"
        client.sendall(b".")
        assert read_all(client) == b".\x04"


def test_telnet_mode_greets_and_takes_commands_out(simulator):
    with running(simulator, ECHO, *terminal(mode="telnet")) as process, connect(process) as client:
        client.sendall(bytes([255, 253, 1, 255, 255]) + b"a.")
        assert read_all(client) == telnet.GREETING + bytes([255, 255]) + b"a.\x04"


def test_quiet_announces_nothing(simulator):
    command = simulator.command(HELLO, *terminal(quiet=1), "--timelimit", "1", "-C", "host.uart0.out_file=")
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=30)
    assert (done.returncode, done.stdout) == (0, b"")


def test_the_command_is_told_port_and_title(simulator, tmp_path):
    note = tmp_path / "port"
    command = f"sh -c 'echo %port %title > {note}.new; mv {note}.new {note}'"
    arguments = terminal(start_telnet=1, terminal_command=command)
    with running(simulator, ECHO, *arguments) as process:
        announced = PORT.fullmatch(process.stdout.readline())
        deadline = time.monotonic() + 10
        while not note.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert note.read_text() == f"{announced[1].decode()} host_terminal_0\n"


def test_a_command_that_does_not_exist_is_not_started(capfd, simulator):
    run = simulator.run(HELLO, *terminal(start_telnet=1, terminal_command="/no/such/program"))
    assert run.exit_code == 1
    assert "No such file or directory" in run.stderr


def test_a_signal_ends_the_wait_for_a_client(simulator):
    with running(simulator, HELLO, *terminal()) as process:
        assert PORT.fullmatch(process.stdout.readline())
        assert process.stdout.read(7) == b"hello\n\x04"
        process.send_signal(signal.SIGINT)
        # Whether the guest has ended when the signal comes is open; the wait has an end either way.
        assert process.wait(5) in (0, 128 + signal.SIGINT)


def test_an_occupied_port_makes_it_take_the_next():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        found = Terminal(TerminalSettings("terminal", start_port=taken))
        assert found.port > taken
        found.close()


def test_a_client_that_leaves_makes_room_for_another():
    served = Terminal(TerminalSettings("terminal", start_port=0, mode="raw"))
    for text in (b"first", b"second"):
        served.write(text)
        with socket.create_connection(("127.0.0.1", served.port), timeout=10) as client:
            served.wait(10)
            assert client.recv(100) == text
        served.wait(10)
        assert not served.connected
    served.close()


@pytest.mark.parametrize("split", range(1, 12))
def test_telnet_commands_may_be_split_anywhere(split):
    typed = bytes([255, 251, 31, 255, 250, 31, 0, 80, 255, 240]) + b"ab" + bytes([255, 255, 255, 241])
    decoder = telnet.Decoder()
    assert decoder.decode(typed[:split]) + decoder.decode(typed[split:]) == b"ab\xff"


def test_a_run_without_a_terminal_loads_none(simulator):
    probe = (
        "import sys\nfrom harness.sim.main import main\nassert main(sys.argv[1:]) == 0\n"
        "assert 'harness.sim.terminal' not in sys.modules"
    )
    command = [sys.executable, "-c", probe, *simulator.command(HELLO)[len(PROGRAM) :]]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"hello\n\x04", b"")
