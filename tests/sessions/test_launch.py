"""What a run's folder and command line hold, and what it leaves when it is asked to."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from pyfatfs.PyFatFS import PyFatFS

from harness.boards.config import Entry
from harness.build.elf import read_elf
from harness.errors import BoardError
from harness.testing import Symptom


def options(command: tuple[str, ...], name: str) -> list[str]:
    """The values of an option."""
    return [value for option, value in itertools.pairwise(command) if option == name]


def test_the_image_lies_on_a_disk_for_u_boot(fvp, plan_and_image, tmp_path):
    elf = plan_and_image[1].elf
    (tmp_path / "run").mkdir()
    command = fvp().launch(elf, tmp_path / "run").command
    (disk,) = [value for value in options(command, "-C") if value.startswith("board.msd_mmc_2.p_mmc_file=")]
    with PyFatFS(disk.partition("=")[2], read_only=True) as volume:
        assert volume.readbytes("/harness.bin") == read_elf(elf).flat()
    assert "-a" not in command


def test_a_board_may_take_the_flat_image_as_data(fvp, plan_and_image, tmp_path):
    board = fvp()
    (tmp_path / "run").mkdir()
    entry = Entry(exception_level=2, start="data")
    board = replace(board, config=board.config.model_copy(update={"entry": entry, "boot": None}))
    command = board.launch(plan_and_image[1].elf, tmp_path / "run").command
    *_, last = options(command, "--data")
    assert last == f"{tmp_path / 'run' / 'harness.bin'}@0x88200000"


def test_a_run_has_its_own_copies(fvp, plan_and_image, tmp_path):
    (tmp_path / "run").mkdir()
    command = fvp().launch(plan_and_image[1].elf, tmp_path / "run").command
    copies = [value.partition("=")[2] for value in options(command, "-C") if "p_mmc_file" in value]
    copies += [value.partition("=")[2].partition("@")[0] for value in options(command, "--data")]
    assert len(copies) == 3
    assert {Path(copy).parent for copy in copies} == {tmp_path / "run"}


def test_a_parameter_of_the_users_wins(fvp, plan_and_image, tmp_path):
    (tmp_path / "run").mkdir()
    board = replace(fvp(), parameters={"board.xnvm_size": 32})
    command = board.launch(plan_and_image[1].elf, tmp_path / "run").command
    assert "board.xnvm_size=32" in command
    assert "board.xnvm_size=64" not in command


@pytest.mark.parametrize("symptom", [None, Symptom.DEATH_STRING])
def test_logs_are_left_for_each_console_however_a_run_ends(fvp, plan_and_image, tmp_path, symptom):
    board = replace(fvp(*([symptom] if symptom else [])), logs=tmp_path / "logs")
    try:
        board.run(plan_and_image[1].elf)
    except BoardError:
        assert symptom is not None
    (folder,) = (tmp_path / "logs").iterdir()
    assert {"normal.log", "secure.log", "enclave.log", "model.log", "all.log"} >= {
        path.name for path in folder.iterdir()
    }
    assert b"Starting TF-M BL1_1" in (folder / "enclave.log").read_bytes()
    assert "enclave: [INF] Starting TF-M BL1_1" in (folder / "all.log").read_text()
