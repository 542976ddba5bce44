"""The lane from the command line to its report, on the stand-in for the FVP."""

from __future__ import annotations

import json
import re
import shlex
import struct
import sys
from pathlib import Path

import pytest

from harness.cli.command_line import run_command_line
from harness.data_files import data_folder
from harness.testing import MockFvp, Script, Symptom

RUNNER = Path(__file__).with_name("scripted_runner.py")
ARGUMENTS = "--model_path={model} --inputs={inputs} --num_executions={inferences} --output_file={output}"
BOARD = "corstone-1000-a320-linux"


@pytest.fixture
def fvp(tmp_path, monkeypatch):
    """A function that installs a stand-in with symptoms, whose Linux has scripted runners."""

    def install(*symptoms: Symptom, **choices) -> None:
        runner = Script(commands=f'exec {shlex.join([sys.executable, "-I", "-S", str(RUNNER)])} "$@"')
        scripts = {"P0.ELF": runner, "P1.ELF": runner}
        mock = MockFvp(tmp_path / "fvp", *symptoms, countdown_seconds=0.2, scripts=scripts, **choices)
        monkeypatch.setenv("FVP_CORSTONE1000", str(mock.executable))
        monkeypatch.setenv("CORSTONE_1000_IMAGES", str(mock.images))

    return install


@pytest.fixture
def compare(network, tmp_path, capsys):
    """A function that compares two runners with these arguments; returns exit code, output and JSON."""
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    program = tmp_path / "runner"
    program.write_bytes(ident + struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0))
    result = tmp_path / "result.json"

    def run(before: str = "", after: str = "", *options: str, board: str = BOARD):
        implementations = [
            f"--implementation={name}={program} {ARGUMENTS} {more}"
            for name, more in (("before", before), ("after", after))
        ]
        words = ["compare", str(network), "--board", board, "--json", str(result), *implementations, *options]
        code = run_command_line(words)
        said = capsys.readouterr()
        return code, said.err + said.out, json.loads(result.read_text()) if result.exists() else None

    return run


@pytest.fixture
def board_with(tmp_path):
    """A function that writes the board's file with another line in place of one that begins alike."""

    def write(**values: object) -> str:
        text = (data_folder("fvp_configs") / f"{BOARD}.toml").read_text()
        for key, value in values.items():
            text, found = re.subn(f"(?m)^{key} = .*$", f"{key} = {value}", text)
            assert found == 1
        path = tmp_path / "board.toml"
        path.write_text(text)
        return str(path)

    return write


def test_two_runners_that_do_the_same_pass_with_their_times(fvp, compare, tmp_path):
    fvp()
    code, said, result = compare("--ms=2.6", "--ms=0.93", "--logs", str(tmp_path / "logs"))
    assert code == 0, said
    assert result["verdict"] == "pass"
    assert result["board"] == {"name": BOARD, "source": "fvp"}
    (model,) = result["models"]
    assert model["comparison"]["outputs_identical"]
    assert model["comparison"]["npu_cycles_identical"]
    (times,) = model["comparison"]["times"]
    assert (times["wall"]["before_ms"], times["wall"]["after_ms"]) == (2.6, 0.93)
    assert result["versions"]["board"] == "11.30.27"
    assert "2.60 → 0.93" in said
    assert "64.2 %" in said
    table = said[said.index("Milliseconds") :].splitlines()
    assert max(map(len, table)) <= 100, table
    (logs,) = (tmp_path / "logs").iterdir()
    assert b"Ethos-U Linux delegate cycle counter: 1234" in (logs / "normal.log").read_bytes()


def test_a_runner_that_gives_other_bytes_fails(fvp, compare):
    fvp(Symptom.TELNET_BYTES, Symptom.ANSI, Symptom.BYTE_BY_BYTE)
    code, said, result = compare("", "--symptom=other-bytes")
    assert code == 1, said
    assert result["verdict"] == "fail"
    assert {finding["check"] for finding in result["models"][0]["findings"]} == {"implementation-outputs"}
    assert "implementation-outputs after: input A: not as with before: output 0 byte 0" in said


def test_a_runner_that_crashes_is_a_fault_and_no_pass(fvp, compare):
    fvp()
    code, said, result = compare("", "--symptom=segfault")
    assert code == 4
    assert result["models"][0]["error"]["type"] == "FirmwareFault"
    assert "had a segmentation fault: addition with after, input A" in said


@pytest.mark.proof  # test_preparation.py has it without a boot
def test_an_image_with_the_upstream_driver_alone_is_refused(fvp, compare):
    fvp(devices=("/dev/accel/accel0",))
    code, said, result = compare()
    assert (code, result) == (3, None)
    assert "/dev/accel/accel0 and no /dev/ethosu0" in said


@pytest.mark.parametrize(
    ("symptom", "words"),
    [
        (Symptom.DIES_IN_RECORD, "closed before it showed"),
        pytest.param(Symptom.LIMIT_IN_RECORD, "stopped at a limit of its model", marks=pytest.mark.proof),
        pytest.param(
            Symptom.HANGS_IN_RECORD, "did not show the start of `dmesg -n 1`", marks=pytest.mark.proof
        ),
        pytest.param(Symptom.KERNEL_PANIC, "Kernel panic - not syncing", marks=pytest.mark.proof),
        pytest.param(Symptom.KERNEL_HANGS, "did not show a login within 20 s", marks=pytest.mark.proof),
        pytest.param(Symptom.SLOW_CONSOLE, "set character_delay_seconds in [linux]", marks=pytest.mark.proof),
    ],
)
def test_what_ends_a_board_is_named(fvp, compare, board_with, symptom, words):
    fvp(symptom)
    code, said, result = compare(board=board_with(boot_seconds=20, start_seconds=20))
    assert (code, result) == (3, None), said
    assert words in said


@pytest.mark.proof
@pytest.mark.parametrize(
    "symptom",
    [Symptom.CHATTY, Symptom.BARE_CR, Symptom.SPLIT_UTF8, Symptom.IGNORES_SIGNALS, Symptom.SURVIVING_CHILD],
    ids=lambda symptom: symptom.value,
)
def test_what_is_harmless_passes(fvp, compare, symptom):
    fvp(symptom)
    code, said, _ = compare()
    assert code == 0, said


@pytest.mark.proof
def test_a_slow_console_is_typed_on_slowly(fvp, compare, board_with):
    fvp(Symptom.SLOW_CONSOLE)
    slow = board_with(user='"root"\ncharacter_delay_seconds = 0.01', run_seconds=60, start_seconds=60)
    code, said, _ = compare("--symptom=fails", "", board=slow)  # the first trial says whether all arrived
    assert code == 4, said
    assert "ended with status 1: addition with before, input A" in said


def test_a_login_that_does_not_come_shows_all_consoles(fvp, compare, board_with):
    fvp(Symptom.HANGS_IN_BOOT)
    code, said, _ = compare(board=board_with(boot_seconds=2))
    assert code == 3
    assert "did not show a login within 2 s" in said
    assert "enclave: [INF]" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--modes", "driver"), "--modes means nothing on a board that boots Linux"),
        (("--html", "report.html"), "--html is not written for a board that boots Linux"),
        (("--inferences", "1"), "2 inferences at least"),
        (("--macs", "512"), "was compiled for 256 MACs and cannot run on 512"),
    ],
)
def test_what_cannot_be_had_is_refused_before_the_board_starts(compare, options, said):
    code, printed, _ = compare("", "", *options)
    assert code == 2
    assert said in printed


def test_a_network_that_is_not_compiled_is_refused(compare, network):
    source = network.with_name("addition.tflite")
    code, printed, _ = compare("", "", str(source))
    assert code == 2
    assert "addition cannot be given to a runner on Linux" in printed
