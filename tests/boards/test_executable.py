"""A model's program is found wherever it may be, and sees an environment that does not harm it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.boards.config import BoardConfig, Program, load_board
from harness.boards.executable import find_executable, program_environment, with_executable
from harness.errors import BoardError, UsageError

NAME, OLD_NAME = "FVP_Corstone-1000-A320", "FVP_Corstone-1000_with_Cortex-A320"


def install(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> BoardConfig:
    """The FVP's board, in an environment that has none."""
    monkeypatch.delenv("FVP_CORSTONE1000", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    config = load_board("corstone-1000-a320")
    program = config.program.model_copy(update={"folders": (f"{tmp_path}/fvp-*",)})
    return config.model_copy(update={"program": program})


@pytest.mark.parametrize("name", [NAME, OLD_NAME])
def test_the_variable_may_name_the_program_or_its_folder(board, tmp_path, monkeypatch, name):
    program = install(tmp_path / "somewhere" / name)
    for chosen in (program, program.parent):
        monkeypatch.setenv("FVP_CORSTONE1000", str(chosen))
        assert find_executable(board) == program


@pytest.mark.parametrize("name", [NAME, OLD_NAME, "renamed"])
def test_a_path_given_goes_before_the_variable(board, tmp_path, monkeypatch, name):
    monkeypatch.setenv("FVP_CORSTONE1000", str(install(tmp_path / "other" / NAME)))
    program = install(tmp_path / "given" / name)
    monkeypatch.chdir(tmp_path)
    assert find_executable(with_executable(board, program)) == program
    assert find_executable(with_executable(board, Path("given") / name)) == program


@pytest.mark.parametrize("name", [NAME, OLD_NAME])
def test_the_path_given_may_be_the_folder(board, tmp_path, name):
    program = install(tmp_path / "given" / name)
    assert find_executable(with_executable(board, program.parent)) == program


def test_a_path_given_without_a_program_is_an_error_whatever_is_found_elsewhere(board, tmp_path):
    install(tmp_path / "path" / NAME)
    with pytest.raises(BoardError) as caught:
        find_executable(with_executable(board, tmp_path / "absent"))
    assert caught.value.evidence == (f"{tmp_path}/absent: does not exist",)


def test_the_built_in_simulator_has_no_executable_to_choose(tmp_path):
    with pytest.raises(UsageError, match="board sim is the built-in simulator"):
        with_executable(load_board("sim"), tmp_path)


def test_the_variable_may_begin_with_a_tilde(board, tmp_path, monkeypatch):
    program = install(tmp_path / "home" / NAME)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FVP_CORSTONE1000", f"~/{NAME}")
    assert find_executable(board) == program


@pytest.mark.parametrize("name", [NAME, OLD_NAME])
def test_it_is_found_on_the_path(board, tmp_path, name):
    program = install(tmp_path / "path" / name)
    assert find_executable(board) == program


@pytest.mark.parametrize("place", ["", "bin/", "models/Linux64_GCC-9.3/"])
def test_it_is_found_in_the_usual_folders_in_their_layouts(board, tmp_path, place):
    program = install(tmp_path / "fvp-11.30" / f"{place}{NAME}")
    assert find_executable(board) == program


def test_the_newest_of_several_releases_is_found(board, tmp_path):
    install(tmp_path / "fvp-11.9" / NAME)
    program = install(tmp_path / "fvp-11.30" / NAME)
    assert find_executable(board) == program


def test_a_path_in_the_board_file_is_taken_as_it_is(board, tmp_path):
    program = install(tmp_path / "mine")
    assert find_executable(board.model_copy(update={"executable": str(program)})) == program


def test_a_file_that_cannot_be_run_is_not_it(board, tmp_path):
    install(tmp_path / "fvp-1" / NAME).chmod(0o644)
    with pytest.raises(BoardError, match="in none of the places"):
        find_executable(board)


def test_a_program_that_is_missing_is_said_with_the_places(board, tmp_path):
    with pytest.raises(BoardError, match=f"its program {NAME} is in none of the places") as caught:
        find_executable(board)
    assert caught.value.evidence == ("FVP_CORSTONE1000 (not set)", "PATH", f"{tmp_path}/fvp-*")
    assert caught.value.hint == "set FVP_CORSTONE1000 to it, or to its folder"


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ("nowhere", "does not exist"),
        ("empty", f"a folder that has no executable {NAME} or {OLD_NAME}"),
        ("plain", "not executable"),
    ],
)
def test_who_sets_the_variable_gets_that_program_or_none(board, tmp_path, monkeypatch, chosen, why):
    install(tmp_path / "path" / NAME)
    install(tmp_path / "plain").chmod(0o644)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("FVP_CORSTONE1000", f"{tmp_path}/{chosen}")
    with pytest.raises(BoardError) as caught:
        find_executable(board)
    assert caught.value.evidence == (f"FVP_CORSTONE1000={tmp_path}/{chosen}: {why}",)


def test_a_board_without_a_variable_is_looked_for_as_well(board):
    with pytest.raises(BoardError) as caught:
        find_executable(board.model_copy(update={"program": Program()}))
    assert caught.value.evidence == ("PATH",)


def test_a_users_display_and_python_are_kept_out():
    base = {
        "PATH": "/bin",
        "DISPLAY": ":0",
        "PYTHONPATH": "/x",
        "PYTHONHOME": "/y",
        "ARMLMD_LICENSE_FILE": "z",
    }
    assert program_environment(Path("/opt/fvp/bin/FVP"), base) == {"PATH": "/bin", "ARMLMD_LICENSE_FILE": "z"}


def test_the_models_own_python_is_found(tmp_path):
    (tmp_path / "fvp" / "python").mkdir(parents=True)
    program = tmp_path / "fvp" / "models" / "Linux64" / NAME
    environment = program_environment(program, {"LD_LIBRARY_PATH": "/lib"}, {"MORE": "1"})
    python = tmp_path / "fvp" / "python"
    assert environment == {
        "PYTHONHOME": str(python),
        "LD_LIBRARY_PATH": f"{python}/lib:/lib",
        "MORE": "1",
    }
