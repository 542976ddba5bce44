"""Start-up: from any exception level, with whatever memory held before, to the same run."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from harness.boards.board import Board
from harness.build.elf import read_elf
from harness.build.image import build_image
from harness.build.toolchain import find_toolchain
from harness.console.protocol import parse_console
from harness.results.assembly import assemble

BOOT_LOADER = """
        .global _start
_start: ldr     x1, =LOAD_ADDRESS
        br      x1
"""


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_firmware_runs_alike_from_any_exception_level(firmware, both_lifetimes, sound, timeless, level):
    run = firmware.run(both_lifetimes, parameters={"host.cpu.entry_el": level})
    assert timeless(run) == timeless(sound)


@pytest.mark.parametrize("fill", [0x55, 0xAA])
def test_what_memory_held_before_makes_no_difference(firmware, both_lifetimes, sound, timeless, fill):
    run = firmware.run(both_lifetimes, parameters={"host.memory.fill": fill})
    assert timeless(run) == timeless(sound)


def test_a_sound_driver_needs_no_coherent_caches(firmware, both_lifetimes, sound, timeless):
    run = firmware.run(both_lifetimes, parameters={"host.cache_model": False})
    assert timeless(run) == timeless(sound)


def test_hello_says_which_build_and_which_npu(sound):
    assert (sound.npu_id, sound.npu_config) == (0x20007000, 0x20000118)
    assert len(sound.build) == 16
    assert sound.window > 0


def test_a_boot_loader_may_start_the_flat_image(firmware, both_lifetimes, sound, timeless, tmp_path):
    nonce = "0123456789abcdef"
    plan = replace(both_lifetimes, nonce=nonce)
    image = build_image(plan, firmware.board, find_toolchain())
    flat = tmp_path / "image.bin"
    flat.write_bytes(read_elf(image.stamped(nonce, tmp_path / "image.elf")).flat())
    (tmp_path / "loader.S").write_text(BOOT_LOADER)
    (tmp_path / "loader.ld").write_text(
        f"SECTIONS {{ . = {firmware.board.memory.ram_base:#x}; .text : {{ *(.text) }} }}"
    )
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-freestanding-none", "-nostdlib"]
    load_address = read_elf(image.elf).entry
    subprocess.run(
        [*zig, f"-DLOAD_ADDRESS={load_address:#x}", "-Wl,-T,loader.ld", "-o", "loader.elf", "loader.S"],
        cwd=tmp_path,
        env=dict(find_toolchain().environment),
        check=True,
        timeout=60,
    )
    board = Board(firmware.board, 256, {"host.cpu.entry_el": 2})
    command = (*board.command(tmp_path / "loader.elf"), "--data", f"{flat}@{load_address:#x}")
    run = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert timeless(assemble(parse_console(run.stdout, nonce, image.build), plan)) == timeless(sound)
