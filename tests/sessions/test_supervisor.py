"""A model and all that it started end with the harness, and the model's own end comes through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.boards import supervisor

SUPERVISOR = (sys.executable, "-I", "-S", str(Path(supervisor.__file__)))
PATIENCE = 10


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has reaped yet has."""
    for _ in range(PATIENCE * 50):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("status", [0, 3, 255])
def test_an_exit_status_comes_through(status):
    assert (
        subprocess.run([*SUPERVISOR, "/bin/sh", "-c", f"exit {status}"], timeout=PATIENCE).returncode
        == status
    )


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_a_signal_that_ended_the_model_comes_through(number):
    done = subprocess.run([*SUPERVISOR, "/bin/sh", "-c", f"kill -{int(number)} $$"], timeout=PATIENCE)
    assert done.returncode == -number


def test_a_signal_to_the_group_reaches_the_model():
    script = "trap 'echo heard; exit 5' INT; echo ready; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        [*SUPERVISOR, "/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=PATIENCE)[0] == "heard\n"
    assert process.returncode == 5


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_a_killed_worker_leaves_neither_model_nor_its_children(tmp_path):
    script = (
        f"sleep 300 & echo $! $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pids; trap '' TERM INT; wait"
    )
    worker = (
        "import subprocess, sys, time\n"
        "subprocess.Popen(sys.argv[1:], start_new_session=True)\n"
        "time.sleep(300)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", worker, *SUPERVISOR, "/bin/sh", "-c", script])
    while not (tmp_path / "pids").exists():
        time.sleep(0.02)
    child, model = map(int, (tmp_path / "pids").read_text().split())
    process.kill()
    process.wait()
    assert gone(model)
    assert gone(child)
