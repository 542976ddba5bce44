"""Which files make up a firmware with a driver of somebody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.boards.config import load_board
from harness.build.firmware_tree import Edit, FirmwareTree
from harness.build.image import build_image
from harness.build.toolchain import find_toolchain
from harness.errors import BuildError, UsageError
from harness.plan import Plan

NOTHING = Plan(models=(), cells=())


def sources(implementation: Path | None, *edits: Edit) -> dict[str, str]:
    return dict(FirmwareTree(edits=edits, implementation=implementation).sources())


def build(implementation: Path) -> str:
    firmware = FirmwareTree(implementation=implementation)
    return build_image(NOTHING, load_board("sim"), find_toolchain(), firmware).build


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "driver.c").write_text("/* all of it */\n")
    (tmp_path / "README").write_text("no source\n")
    return tmp_path


def test_our_own_firmware_has_no_adapter_in_it():
    assert not [name for name in sources(None) if name.startswith("adapters/")]


def test_c_files_of_the_implementation_replace_all_of_ours(folder):
    assert [name for name in sources(folder) if name.startswith("ethosu/") and name.endswith(".c")] == [
        "ethosu/driver.c"
    ]


def test_headers_of_ours_stay_unless_the_implementation_has_them(folder):
    (folder / "ethosu_device.h").write_text("/* another device */\n")
    theirs, ours = sources(folder), sources(None)
    assert theirs["ethosu/ethosu_device.h"] == "/* another device */\n"
    assert theirs["ethosu/ethosu_buffer.h"] == ours["ethosu/ethosu_buffer.h"]


def test_what_is_not_the_driver_stays(folder):
    theirs, ours = sources(folder), sources(None)
    assert {name: text for name, text in theirs.items() if not name.startswith("ethosu/")} == {
        name: text for name, text in ours.items() if not name.startswith("ethosu/")
    }


def test_edits_are_made_to_the_implementation(folder):
    edited = sources(folder, Edit("ethosu/driver.c", "all", "most"))
    assert edited["ethosu/driver.c"] == "/* most of it */\n"


def test_a_missing_folder_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"there is no folder .*/nowhere"):
        sources(tmp_path / "nowhere")


def test_a_folder_without_c_files_is_a_usage_error(tmp_path):
    (tmp_path / "driver.h").write_text("")
    with pytest.raises(UsageError, match="no C file in it") as caught:
        sources(tmp_path)
    assert "docs/driver-interface.md" in caught.value.hint


def test_a_source_in_another_encoding_is_a_usage_error(folder):
    (folder / "driver.c").write_bytes("/* für */".encode("latin-1"))
    with pytest.raises(UsageError, match=r"driver\.c is no UTF-8 text: byte 4 is 0xfc"):
        sources(folder)


def test_functions_that_are_missing_are_named(copy_of_ours):
    mine = copy_of_ours()
    (mine / "ethosu_inference.c").unlink()
    with pytest.raises(BuildError, match="lacks ethosu_inference_create, ethosu_inference_destroy") as caught:
        build(mine)
    assert str(mine) in str(caught.value)
    assert "docs/driver-interface.md" in caught.value.hint


def test_an_error_of_the_compiler_stays_what_it_is(copy_of_ours):
    mine = copy_of_ours("ethosu_error.c", "return names[error];", "return names[eror];")
    with pytest.raises(BuildError, match="could not build the firmware") as caught:
        build(mine)
    assert any("ethosu_error.c" in line and "eror" in line for line in caught.value.evidence)


def test_a_change_in_the_implementation_is_another_build(copy_of_ours):
    mine = copy_of_ours()
    before = build(mine)
    with (mine / "ethosu_error.c").open("a") as file:
        file.write("/* changed */\n")
    assert build(mine) != before


def test_a_copy_of_our_driver_is_our_build(copy_of_ours):
    ours = build_image(NOTHING, load_board("sim"), find_toolchain()).build
    assert build(copy_of_ours()) == ours
