"""`harness boards` and a board's own problems on the command line: one line each, with its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.testing import MockFvp, Symptom

FVP = "corstone-1000-a320"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that installs a stand-in and the images that its board file names."""
    images = tmp_path / "images"
    (images / "trusted-firmware-m").mkdir(parents=True)
    (images / "trusted-firmware-m" / "bl1.bin").write_bytes(bytes(64))
    (images / "corstone1000-flash-firmware-image-corstone1000-a320-fvp.wic").write_bytes(bytes(4096))
    monkeypatch.setenv("CORSTONE_1000_IMAGES", str(images))

    def install(*symptoms: Symptom, **choices: str) -> Path:
        fvp = MockFvp(tmp_path / "fvp", *symptoms, **choices)
        monkeypatch.setenv("FVP_CORSTONE1000", str(fvp.executable))
        return images

    return install


def harness(*arguments: str) -> tuple[int, str]:
    """Run a command line; its exit code and all that it printed."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "harness.cli", *arguments], capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


def test_boards_are_listed_with_their_programs(installed):
    installed()
    code, text = harness("boards", "list")
    assert code == 0
    assert FVP in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_a_board_is_shown_key_by_key():
    code, text = harness("boards", "show", FVP)
    assert code == 0
    assert "memory.load_address = 0x88200000\n" in text
    assert "program.memory_mib = 4096\n" in text
    assert "boot.character_delay_seconds = 0.0  (default)\n" in text


def test_a_board_of_which_all_is_here_is_said_to_be(installed):
    installed()
    code, text = harness("boards", "check", FVP)
    assert (code, "version: 11.30.27" in text) == (0, True), text


def test_the_program_may_be_chosen_on_the_command_line(installed, monkeypatch):
    installed()
    program = Path(os.environ["FVP_CORSTONE1000"])
    monkeypatch.setenv("FVP_CORSTONE1000", str(program.parent / "absent"))
    assert harness("boards", "check", FVP)[0] == 3
    for chosen in (program, program.parent):
        code, text = harness("boards", "check", FVP, "--executable", str(chosen))
        assert (code, f"program: {program}" in text) == (0, True), text
    code, text = harness("run", "ds_cnn", "--board", FVP, "--executable", str(program), "--dry-run")
    assert (code, str(program) in text) == (0, True), text


def test_the_built_in_simulator_is_not_chosen_by_a_path(tmp_path):
    code, text = harness("compare", "ds_cnn", "--board", "sim", "--executable", str(tmp_path))
    assert (code, "board sim is the built-in simulator" in text) == (2, True), text


def test_a_missing_file_is_named(installed):
    (installed() / "corstone1000-flash-firmware-image-corstone1000-a320-fvp.wic").unlink()
    code, text = harness("boards", "check", FVP)
    assert code == 2
    assert "board.msd_mmc.p_mmc_file names the file" in text


def test_a_missing_program_is_infrastructure(installed, monkeypatch):
    installed()
    monkeypatch.setenv("FVP_CORSTONE1000", "/nowhere")
    code, text = harness("boards", "check", FVP)
    assert code == 3
    assert "FVP_CORSTONE1000=/nowhere" in text
    code, text = harness("compare", "ds_cnn", "--board", FVP, "--modes", "driver")
    assert code == 3


def test_an_old_program_is_infrastructure(installed):
    installed(version="11.16.14 (Sep 29 2021)")
    code, text = harness("boards", "check", FVP)
    assert (code, "older than 11.27.31" in text) == (3, True), text


def test_a_variable_that_is_not_set_is_named(installed, monkeypatch):
    installed()
    monkeypatch.delenv("CORSTONE_1000_IMAGES")
    code, text = harness("run", "ds_cnn", "--board", FVP)
    assert code == 2
    assert "CORSTONE_1000_IMAGES is not set in the environment" in text


def test_an_npu_without_time_is_refused(installed):
    installed()
    code, text = harness("compare", "ds_cnn", "--board", FVP, "-C", "host.ethosu.extra_args=--fast")
    assert code == 2
    assert "leave --fast away" in text


def test_a_dry_run_prints_a_command_that_runs(installed):
    installed()
    code, text = harness("run", "ds_cnn", "--board", "sim", "--dry-run")
    assert code == 0
    assert text.startswith("cd ")
    done = subprocess.run(["sh", "-c", text], capture_output=True, timeout=60)
    assert b"bye status=ok" in done.stdout


def test_a_comparison_on_the_stand_in_passes(installed):
    installed()
    code, text = harness("compare", "ds_cnn", "--board", FVP, "--modes", "driver")
    assert code == 0, text
    assert "board corstone-1000-a320 (fvp)" in text
    assert "those of Arm's model, and no hardware's time" in text


def test_a_comparison_runs_from_meta_arms_configuration(installed, tmp_path):
    images = installed()
    image = "corstone1000-flash-firmware-image-corstone1000-a320-fvp.wic"
    terminals = {"default": "host_terminal_0", "tf-a": "host_terminal_1", "se": "secenc_terminal"}
    conf = {
        "provider": "fvp-corstone1000-a320-native",
        "fvp-bindir": str(tmp_path / "fvp"),
        "exe": Path(os.environ["FVP_CORSTONE1000"]).name,
        "parameters": {
            "se.trustedBootROMloader.fname": "trusted-firmware-m/bl1.bin",
            "board.msd_mmc.p_mmc_file": image,
            "board.msd_mmc_2.p_mmc_file": "esp.wic",
            "board.hostbridge.userNetPorts": "2222=22",
        },
        "data": [f"board.flash0={image}@0x68000000"],
        "applications": {},
        "terminals": {f"{'se' if role == 'se' else 'host'}.{name}": role for role, name in terminals.items()},
        "args": [],
        "consoles": terminals,
        "env": {},
    }
    (images / "machine.fvpconf").write_text(json.dumps(conf))
    code, text = harness("compare", "ds_cnn", "--board", str(images / "machine.fvpconf"), "--modes", "driver")
    assert code == 0, text
    assert "board machine.fvpconf (fvp)" in text


def test_a_board_that_boots_linux_runs_no_image():
    code, text = harness("run", "ds_cnn", "--board", "corstone-1000-a320-linux")
    assert code == 2, text
    assert "boots Linux, and runs no image of ours" in text
