"""Building: reproducible, cached by content, and checked against what was meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.boards.config import load_board
from harness.build.elf import read_elf
from harness.build.firmware_tree import Edit, FirmwareTree
from harness.build.image import build_image, check_image
from harness.build.render import render
from harness.build.toolchain import find_toolchain
from harness.errors import BuildError, UsageError


@pytest.fixture
def board(board_name):
    return load_board(board_name)


@pytest.fixture
def image(plan, board):
    return build_image(plan, board, find_toolchain())


@pytest.fixture
def spoiled(image, tmp_path):
    """Copy the image with one byte of a blob changed."""

    def spoil(symbol):
        data = bytearray(image.elf.read_bytes())
        data[read_elf(image.elf).file_offset(symbol) + 2] ^= 1
        path = tmp_path / "image.elf"
        path.write_bytes(data)
        return read_elf(path)

    return spoil


def test_two_folders_give_the_same_elf(plan, board, image, own_cache):
    again = build_image(plan, board, find_toolchain())
    assert own_cache in again.elf.parents
    assert again.elf.read_bytes() == image.elf.read_bytes()


def test_the_elf_names_no_folder_of_its_build(plan, board, own_cache):
    image = build_image(plan, board, find_toolchain())
    assert str(own_cache).encode() not in image.elf.read_bytes()


def test_a_second_build_starts_no_compiler(plan, board, image, monkeypatch):
    toolchain = replace(find_toolchain(), command=("no-such-compiler",))
    assert build_image(plan.with_fresh_nonce(), board, toolchain) == image


def test_a_changed_source_changes_the_build(plan, board, image):
    edit = Edit("runner/main.c", "/* The program:", "/* A program:")
    edited = build_image(plan, board, find_toolchain(), FirmwareTree(edits=(edit,)))
    assert edited.build != image.build


def test_the_image_holds_the_blobs_that_were_meant(plan, board, image):
    check_image(read_elf(image.elf), render(plan, board), board)


@pytest.mark.parametrize("symbol", ["model_0_command_stream", "model_0_weights", "model_0_input_1_1"])
def test_one_changed_byte_is_caught(plan, board, spoiled, symbol):
    with pytest.raises(BuildError, match=f"meant for {symbol}"):
        check_image(spoiled(symbol), render(plan, board), board)


def test_an_image_with_older_weights_is_caught(plan, board, image):
    planned = plan.models[0]
    newer = replace(planned, compiled=replace(planned.compiled, weights=b"weights?" * 10))
    with pytest.raises(BuildError, match="model_0_weights: they differ from byte 7 on"):
        check_image(read_elf(image.elf), render(replace(plan, models=(newer,)), board), board)


def test_an_image_that_outgrows_its_memory_is_a_build_error(plan, board, image):
    memory = board.memory.model_copy(update={"dma_pool_base": board.memory.load_address + 0x4000})
    small = board.model_copy(update={"memory": memory})
    with pytest.raises(BuildError, match="does not fit"):
        check_image(read_elf(image.elf), render(plan, board), small)


def test_a_stamped_copy_differs_in_its_nonce_alone(image, tmp_path):
    nonce = "0123456789abcdef"
    stamped = image.stamped(nonce, tmp_path / "stamped.elf").read_bytes()
    offset = read_elf(image.elf).file_offset("identity_nonce")
    original = image.elf.read_bytes()
    assert stamped == original[:offset] + nonce.encode() + original[offset + 16 :]


@pytest.mark.parametrize("nonce", ["", "0123", "0123456789ABCDEF", "0123456789abcdefg"])
def test_a_nonce_that_is_none_is_a_usage_error(image, tmp_path, nonce):
    with pytest.raises(UsageError, match="16 lower-case hexadecimal digits"):
        image.stamped(nonce, tmp_path / "stamped.elf")


def test_the_flat_image_begins_with_the_entry(image):
    elf = read_elf(image.elf)
    flat = elf.flat()
    assert elf.entry == elf.segments[0].address
    for segment in elf.segments:
        start = segment.address - elf.entry
        assert flat[start : start + len(segment.data)] == segment.data


def test_a_compiler_error_carries_the_command_and_the_line(plan, board):
    typo = FirmwareTree(edits=(Edit("runner/main.c", "report_bye();", "report_by();"),))
    with pytest.raises(BuildError) as caught:
        build_image(plan, board, find_toolchain(), typo)
    command, first_error = caught.value.evidence[:2]
    assert "aarch64-freestanding-none" in command
    assert "firmware/runner/main.c" in first_error
    assert "report_by" in first_error


def test_a_warning_is_an_error(plan, board):
    narrowing = Edit(
        "runner/main.c", "    report_bye();\n", "    char c = (int)meter_window();\n    (void)c;\n"
    )
    with pytest.raises(BuildError) as caught:
        build_image(plan, board, find_toolchain(), FirmwareTree(edits=(narrowing,)))
    assert any("implicit conversion" in line for line in caught.value.evidence)


def test_an_edit_must_match_exactly_once():
    with pytest.raises(UsageError, match="occurs 0 times"):
        FirmwareTree(edits=(Edit("runner/main.c", "no such text", ""),)).sources()
    with pytest.raises(UsageError, match=r"no file 'runner/mian\.c'"):
        FirmwareTree(edits=(Edit("runner/mian.c", "", ""),)).sources()
