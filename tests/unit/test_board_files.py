"""Board files: what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.boards.board import Board
from harness.boards.config import board_names, load_board
from harness.data_files import data_folder
from harness.errors import UsageError


@pytest.fixture
def board_file(tmp_path: Path):
    """A function that writes the simulator's board file with one text replaced."""

    def write(old: str, new: str) -> str:
        text = (data_folder("fvp_configs") / "sim.toml").read_text()
        assert text.count(old) == 1
        path = tmp_path / "board.toml"
        path.write_text(text.replace(old, new))
        return str(path)

    return write


def test_an_unknown_board_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=f"unknown board 'fpga'; allowed: {', '.join(board_names())}, or"):
        load_board("fpga")


def test_an_unknown_key_names_the_nearest(board_file) -> None:
    with pytest.raises(UsageError, match=r"unknown key memory.load_adress; did you mean 'load_address'"):
        load_board(board_file("load_address", "load_adress"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'name = "sim"',
            'name = "sim"\nrecords = "uart"',
            r"records is 'uart', which is none of its consoles",
        ),
        ('name = "sim"', 'name = "sim"\ndeaths = ["fine", "("]', r"deaths\.1 is no regular expression: "),
        ('name = "sim"', 'name = "sim"\ncopies = ["disk"]', "copies names 'disk', which is none of its"),
        (
            'start = "application"',
            'start = "u-boot"',
            r'\[boot\] and entry\.start = "u-boot" need each other',
        ),
        (
            "[timeouts]",
            '[[landmarks]]\nconsole = "se"\ntext = "x"\nphase = "y"\n[timeouts]',
            r"landmarks\.0\.console is 'se', which is none of its consoles \(there are none\)",
        ),
        (
            "[timeouts]",
            '[consoles]\na = { termial = "t" }\n[timeouts]',
            r"unknown key consoles\.a\.termial; did you mean 'terminal'",
        ),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(board_file, old, new, said) -> None:
    with pytest.raises(UsageError, match=rf"board\.toml: {said}"):
        load_board(board_file(old, new))


def test_an_impossible_mac_count_is_refused(board_file) -> None:
    with pytest.raises(UsageError, match=r"npu\.macs"):
        load_board(board_file("macs = 256", "macs = 300"))


def test_another_schema_is_refused(board_file) -> None:
    with pytest.raises(UsageError, match="schema"):
        load_board(board_file("schema = 1", "schema = 2"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read board file"):
        load_board(str(tmp_path / "none.toml"))


def test_a_parameter_of_the_caller_wins_over_the_board_file() -> None:
    board = Board(load_board("sim"), 512, {"host.cache_model": "0"})
    command = board.command(Path("image.elf"))
    assert "host.cache_model=0" in command
    assert "host.cache_model=1" not in command
    assert "host.ethosu.num_macs=512" in command
