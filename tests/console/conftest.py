"""A console as a board has printed it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from harness.boards.board import Board
from harness.boards.config import load_board
from harness.build.image import build_image
from harness.build.toolchain import find_toolchain
from harness.plan import Plan, Program

NONCE = "0123456789abcdef"
OTHER_NONCE = "f" * 16


@dataclass(frozen=True)
class Recorded:
    """The console of a run, and that of another run of the same image."""

    sound: bytes
    other: bytes
    nonce: str
    build: str


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """What the simulator prints in a calibration, with a boot loader's noise before and in it."""
    board = load_board("sim")
    image = build_image(Plan((), (), Program.CALIBRATE), board, find_toolchain())
    folder = tmp_path_factory.mktemp("recorded")

    def console(nonce: str) -> bytes:
        run = Board(board, 256).run(image.stamped(nonce, folder / f"{nonce}.elf"))
        first, *rest = run.console.splitlines(keepends=True)
        noise = b"U-Boot 2025.10\r\ncorstone1000# go 0x88200000\r\n"
        return noise + first + b"I/TC: \xe2\x9c\x93 noise\r\n" + b"".join(rest)

    return Recorded(console(NONCE), console(OTHER_NONCE), NONCE, image.build)
