"""A model's version is read in every shape that models give it."""

from __future__ import annotations

import pytest

from harness.boards.version import check_version, parse_version
from harness.errors import BoardError

OLDEST_FIRST = (
    "11.16.14",
    "11.27.31",
    "11.30.27",
    "11.30.cs1000",
    "11.31.1",
    "11.31.cs1000_a320_2",
    "12.0.0",
)


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("\nFast Models [11.30.27 (Nov  1 2025)]\nCopyright 2000-2025 ARM Limited.\n", "11.30.27"),
        ("Fast Models [11.16.14 (Sep 29 2021)]", "11.16.14"),
        ("FVP_Corstone_1000_A320 11.31.cs1000_a320_2", "11.31.cs1000_a320_2"),
    ],
)
def test_it_is_found_in_the_text(said, version):
    found = parse_version(said)
    assert found is not None
    assert found.text == version


def test_versions_are_ordered_and_special_builds_are_newer_than_numbers():
    versions = [parse_version(text) for text in OLDEST_FIRST]
    assert sorted(versions, key=lambda version: version.order) == versions


def test_a_version_that_is_too_old_is_named():
    with pytest.raises(BoardError, match=r"its program is version 11\.16\.14, older than 11\.27\.31"):
        check_version("fvp", "Fast Models [11.16.14 (Sep 29 2021)]", "11.27.31")


@pytest.mark.parametrize("text", ["11.27.31", "11.31.cs1000_a320_2"])
def test_a_version_that_is_new_enough_is_taken(text):
    assert check_version("fvp", f"Fast Models [{text} (x)]", "11.27.31").text == text


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("Error: (E549) uncaught exception: libarmctmodel.so: cannot enable executable stack", "execstack"),
        ("Fatal Python error: init_fs_encoding", "PYTHONHOME"),
        ("xterm: Xt error: Can't open display:", "by hand"),
        ("", "by hand"),
    ],
)
def test_a_program_that_does_not_start_is_said_with_what_is_known_of_it(said, hint):
    with pytest.raises(BoardError, match="its program does not start") as caught:
        check_version("fvp", said, None)
    assert hint in caught.value.hint
