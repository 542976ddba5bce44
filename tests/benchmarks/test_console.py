"""Reading a console, against the least that any reader does: split it into lines, and checksum each."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from itertools import cycle, islice

import pytest

from harness.boards.board import Board
from harness.boards.config import load_board
from harness.build.image import build_image
from harness.build.toolchain import find_toolchain
from harness.console.protocol import format_record, parse_console
from harness.plan import Plan, Program

NONCE = "0123456789abcdef"
RECORDS = 24_000
NOISE_EVERY = 20


def seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.fixture
def console_and_build(tmp_path) -> tuple[bytes, str]:
    """Two megabytes: the records of a run over and over, numbered on, with coloured noise between them."""
    board = load_board("sim")
    image = build_image(Plan((), (), Program.CALIBRATE), board, find_toolchain())
    run = Board(board, 256).run(image.stamped(NONCE, tmp_path / "image.elf"))
    hello, *body, bye = parse_console(run.console, NONCE, image.build).records
    short = [each for each in body if len(each.words) < 80]  # leaves room for longer numbers
    lines = []
    for number, each in enumerate((hello, *islice(cycle(short), RECORDS), bye)):
        lines += [format_record(number, each.type, each.fields, NONCE)]
        lines += ["\x1b[32m[INF]\x1b[0m noise of another world"] * (number % NOISE_EVERY == 1)
    return "\r\n".join(lines).encode(), image.build


@pytest.mark.benchmark
def test_two_megabytes(console_and_build, capsys):
    console, build = console_and_build
    reading = seconds(lambda: parse_console(console, NONCE, build))
    least = seconds(lambda: [zlib.crc32(line) for line in console.split(b"\r\n")])
    with capsys.disabled():
        print(f"\n{len(console) / 1e6:.1f} MB: {reading:.2f} s, {reading / least:.0f} x its peer")  # noqa: T201
