"""The command line as a user meets it: exit codes, one clear line for bad input, a quick end on Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from harness.boards.config import load_board

README = Path(__file__).parents[2] / "README.md"
HARNESS = (sys.executable, "-m", "harness.cli")
ATTEMPTS = 3  #: the promise of a second is for a machine that has a processor to spare


def harness(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HARNESS, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=120
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["compare", "resnet9"], 2, "unknown model 'resnet9'"),
        (["compare", "missing.tflite"], 2, "missing.tflite does not exist"),
        (["compare", "--macs", "300"], 2, "'300' is not one of"),
        (["compare", "--modes", "fast"], 2, "unknown mode 'fast'"),
        (["compare", "--board", "fpga"], 2, "unknown board 'fpga'"),
        (["compare", "--toolchain", "no-such-gcc"], 2, "unknown toolchain 'no-such-gcc'"),
        (["compare", "--json", "no/such/folder.json"], 2, "cannot write no/such/folder.json"),
        (["compare", "-C", "nonsense"], 2, "not of the form name=value"),
        (["compare", "ds_cnn", "-C", "host.nonsense=1"], 3, "host.nonsense"),
        (["run", "ds_cnn", "--mode", "driver"], 2, "takes one mode"),
        (["run", "ds_cnn", "--input", "missing.npy"], 2, "cannot read input missing.npy"),
        (["unknown"], 2, "No such command"),
    ],
)
def test_bad_input_gets_one_clear_line_and_its_exit_code(
    arguments: list[str], code: int, said: str, tmp_path: Path
) -> None:
    done = harness(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_an_input_of_the_wrong_size_names_both_sizes(tmp_path: Path) -> None:
    np.save(tmp_path / "short.npy", np.zeros(3, np.int8))
    done = harness("run", "ds_cnn", "--input", "short.npy", cwd=tmp_path)
    assert done.returncode == 2
    assert "short.npy holds 3 bytes" in done.stderr
    assert "takes 490" in done.stderr


def test_run_writes_each_output_as_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.arange(490, dtype=np.uint8).view(np.int8).reshape(1, 49, 10, 1))
    done = harness("run", "ds_cnn", "--input", "in.npy", "--output-dir", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    output = np.load(tmp_path / "out" / "output0.npy")
    assert (output.shape, output.dtype) == ((1, 12), np.int8)


def test_models_and_doctor_find_everything() -> None:
    models, doctor = harness("models"), harness("doctor")
    assert models.returncode == 0
    assert "mobilenet_v1_025" in models.stdout
    assert doctor.returncode == 0, doctor.stdout
    found = dict(re.findall(r"│ (.+?) +│ (found|missing|wrong version) +│", doctor.stdout))
    assert {"C toolchain", "Vela", "simulator", "tflite-micro", "board sim"} <= found.keys()
    missing = {part for part, state in found.items() if state != "found"} - {"core driver", "TOSA model"}
    assert all(part.startswith("board corstone-1000") for part in missing)


def test_a_folder_of_the_users_is_not_taken_for_a_package(tmp_path: Path) -> None:
    for name in ("harness", "ethosu", "ziglang", "json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('not this one')\n")
    environment = {**os.environ, "HARNESS_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "harness.cli", "compare", "ds_cnn", "--modes", "driver"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_fits_100_columns_and_says_what_was_asserted(tmp_path: Path, board_name: str) -> None:
    done = harness("compare", "ds_cnn", "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "cited, not reproduced" in done.stdout
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "pass"
    shown = {" ".join(line.split()) for line in README.read_text().splitlines()}
    said = done.stdout.replace(f"board {load_board(board_name).name} ", "board sim ")
    rows = (" ".join(line.split()) for line in said.splitlines())
    documented = [row for row in rows if row.startswith(("ds_cnn 23", "ds_cnn io", "board sim"))]
    assert len(documented) == 3
    assert set(documented) <= shown, "README.md shows another table"


def descendants(of: int) -> set[int]:
    """Process ids below one, by their parent in /proc."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    found: set[int] = set()
    edge = {of}
    while edge:
        edge = {child for child, parent in parents.items() if parent in edge}
        found |= edge
    return found


def running(pid: int) -> bool:
    """Whether a process still runs; one that has ended and waits for its new parent to notice does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("after_seconds", [0.0, 0.4, 1.0, 2.0])
def test_ctrl_c_ends_within_a_second_and_leaves_no_process(after_seconds: float, tmp_path: Path) -> None:
    times = []
    for attempt in range(ATTEMPTS):
        times.append(seconds_to_end(after_seconds, tmp_path / str(attempt)))
        if times[-1] < 1.0:
            return
    pytest.fail(f"took {times} s to end")


def seconds_to_end(after_seconds: float, cache: Path) -> float:
    """Interrupt a comparison that long after it came up, and return how long it took to end."""
    cache.mkdir()
    environment = {**os.environ, "HARNESS_CACHE_DIR": str(cache)}  # an empty cache: everything still to do
    # A job that was started in the background has Ctrl-C ignored, and hands that down.
    command = ["env", "--default-signal=INT", *HARNESS, "compare"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        while not any(cache.iterdir()):  # Python itself is still starting
            time.sleep(0.01)
        time.sleep(after_seconds)
        below = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, errors = process.communicate(timeout=20)
        took = time.monotonic() - started
    assert process.returncode == 130, errors
    assert not [pid for pid in below if running(pid)]
    assert b"Traceback" not in errors
    return took
