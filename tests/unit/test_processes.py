"""Programs are ended with everything they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.processes import run_tool, started


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    return state != "Z"


def gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not alive(pid):
            return True
        time.sleep(0.01)
    return False


def test_a_tool_returns_its_status_and_output() -> None:
    done = run_tool([sys.executable, "-c", "print('out'); raise SystemExit(3)"], timeout_seconds=20)
    assert (done.status, done.output) == (3, "out\n")


def test_a_signal_shows_as_a_negative_status() -> None:
    done = run_tool([sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"], timeout_seconds=20)
    assert done.status == -signal.SIGSEGV


def test_a_tool_that_does_not_end_is_killed_with_its_children() -> None:
    script = "sleep 60 & echo $!; wait"
    with started(["sh", "-c", script]) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert alive(child)
    assert gone_within(child, 2)


def test_a_timeout_is_said() -> None:
    with pytest.raises(TimeoutError, match="did not end within"):
        run_tool(["sleep", "60"], timeout_seconds=0.2)


def test_a_missing_program_is_said() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        run_tool(["no-such-program"], timeout_seconds=1)


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_a_program_dies_with_the_harness_even_when_that_is_killed() -> None:
    script = (
        "from harness.processes import started\n"
        "with started(['sleep', '60']) as p:\n"
        "    print(p.pid, flush=True)\n"
        "    p.wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as harness:
        assert harness.stdout is not None
        child = int(harness.stdout.readline())
        time.sleep(0.2)
        harness.kill()
    assert gone_within(child, 2)
