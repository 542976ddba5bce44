"""Runs that are forked from a loaded simulator: the same as those of the program, and as easily ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.boards import simulator as forking
from harness.boards.simulator import start_simulator

ONE_BYTE = "put_byte '>'; finish"
ENDLESS = "put_byte '>'; b ."

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="here every run starts the program")


@pytest.fixture
def arguments(simulator):
    """The command line of a program, without the program that it is given to."""
    return lambda program, *options: simulator.command(program, *options)[len(forking.PROGRAM) :]


def finished(arguments):
    with start_simulator(arguments) as run:
        return run.stdout.read(), run.wait()


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def gone_within(pid, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_fork_says_and_returns_what_the_program_does(simulator, arguments):
    for options in ((), ("--cyclelimit", "1"), ("-C", "no.such=1")):
        done = subprocess.run(
            simulator.command(ONE_BYTE, *options),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
        )
        assert finished(arguments(ONE_BYTE, *options)) == (done.stdout, done.returncode)


def test_forks_run_side_by_side_and_in_the_callers_folder(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        files = [f"uart{number}" for number in range(8)]
        runs = [arguments(ONE_BYTE, "-C", f"host.uart0.out_file={file}") for file in files]
        assert [status for _, status in pool.map(finished, runs)] == [0] * len(files)
    assert all((tmp_path / file).read_bytes() == b">\x04" for file in files)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_signal_shows_as_a_negative_status(arguments, number):
    with start_simulator(arguments(ENDLESS)) as run:
        assert run.stdout.read(1) == b">"
        assert run.poll() is None
        os.kill(run.pid, number)
        assert run.wait(10) == run.poll() == -number


def test_a_run_that_is_left_is_dead(arguments):
    with start_simulator(arguments(ENDLESS)) as run, pytest.raises(subprocess.TimeoutExpired):
        run.wait(0.05)
    assert gone_within(run.pid, 2)


def test_a_server_that_was_killed_takes_its_runs_along_and_is_replaced(arguments):
    with start_simulator(arguments(ENDLESS)) as run:
        os.kill(parent_of(run.pid), signal.SIGKILL)
        assert run.wait(10) == -signal.SIGKILL
    assert finished(arguments(ONE_BYTE)) == (b">\x04", 0)


def test_a_server_that_does_not_come_up_is_said(arguments, monkeypatch):
    monkeypatch.setattr(forking, "_SERVER", (sys.executable, "-c", "raise SystemExit(1)"))
    monkeypatch.setattr(forking, "_server", forking._Server())
    with pytest.raises(forking.BoardError, match="does not start"):
        finished(arguments(ONE_BYTE))


def test_nothing_is_left_when_the_harness_is_killed(arguments):
    script = (
        "import sys\n"
        "from harness.boards.simulator import start_simulator\n"
        "with start_simulator(sys.argv[1:]) as run:\n"
        "    print(run.pid, flush=True)\n"
        "    run.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments(ENDLESS)], stdout=subprocess.PIPE
    ) as harness:
        child = int(harness.stdout.readline())
        harness.kill()
    assert gone_within(child, 5)
