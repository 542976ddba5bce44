"""Starting and stopping leaves no process, no port and no file, however a run ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from harness.boards.session import open_session
from harness.boards.watch import Watch
from harness.boards.workspace import run_folder
from harness.errors import BoardError
from harness.testing import Symptom

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
PATIENCE_SECONDS = 10

RUN_ON_A_BOARD = """
import sys
from pathlib import Path
from harness.boards.board import Board
from harness.boards.config import load_board
config = load_board("corstone-1000-a320")
config = config.model_copy(update={"timeouts": config.timeouts.model_copy(update={"stop_seconds": 0.3})})
Board(config, 256).run(Path(sys.argv[1]), lambda line: print(line, flush=True))
"""


def processes_of(folder: Path) -> list[str]:
    """The command lines that name a folder, of all processes that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(folder) in line:
                found.append(line)
    return found


def left_of(folder: Path) -> list[str]:
    """What of it is still there after a while."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := processes_of(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def never_closed(ports: list[int]) -> list[int]:
    """Those that stay open for long: others may be given the same number for a moment."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (ports := [port for port in ports if is_open(port)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    return ports


def start_and_stop(board, image: Path, folder: Path) -> list[int]:
    """One start, with all consoles attached, and one stop; the ports that there were."""
    folder.mkdir(parents=True)
    launch = board.launch(image, folder)
    start = partial(board.start, launch)
    with open_session(start, board.config, folder, Watch(board.config)) as session:
        return list(session.ports.values())


def many_starts(board, image: Path, folder: Path, count: int) -> None:
    patient = board.config.timeouts.model_copy(update={"start_seconds": 60})  # a busy machine is no failure
    board = replace(board, config=board.config.model_copy(update={"timeouts": patient}))
    with ThreadPoolExecutor(max_workers=4) as threads:
        runs = [
            threads.submit(start_and_stop, board, image, folder / "runs" / str(number))
            for number in range(count)
        ]
        ports = [port for run in runs for port in run.result()]
    assert len(ports) == 3 * count
    assert left_of(folder) == []
    assert never_closed(ports) == []


def test_starts_and_stops_in_parallel_leave_nothing(fvp, plan_and_image, tmp_path):
    many_starts(fvp(), plan_and_image[1].elf, tmp_path, 12)


@pytest.mark.proof
def test_two_hundred_starts_and_stops_in_parallel_leave_nothing(fvp, plan_and_image, tmp_path):
    many_starts(fvp(), plan_and_image[1].elf, tmp_path, 200)


@pytest.mark.proof
@pytest.mark.parametrize(
    "symptom", [Symptom.SURVIVING_CHILD, Symptom.IGNORES_SIGNALS, Symptom.DIES_IN_RECORD]
)
def test_a_run_leaves_neither_process_nor_file(run_on, tmp_path, monkeypatch, symptom):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(BoardError) if symptom is Symptom.DIES_IN_RECORD else nullcontext():
        run_on(symptom)
    assert left_of(tmp_path / "fvp") == []
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.proof
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_worker_that_is_stopped_in_the_middle_leaves_nothing(
    fvp, plan_and_image, tmp_path, monkeypatch, number
):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    fvp(Symptom.HANGS_IN_RECORD, Symptom.SURVIVING_CHILD, Symptom.IGNORES_SIGNALS)
    worker = subprocess.Popen(
        [sys.executable, "-P", "-c", RUN_ON_A_BOARD, str(plan_and_image[1].elf)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    while b"@h1" not in worker.stdout.readline():
        assert worker.poll() is None
    worker.send_signal(number)
    worker.wait(60)
    worker.stdout.close()
    assert left_of(tmp_path / "fvp") == []
    with run_folder() as next_folder:  # the next run sweeps up what a killed one could not
        assert list((tmp_path / "temporary").iterdir()) == [next_folder]
