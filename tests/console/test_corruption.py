"""A damaged console gives a typed error or the very same records, never another value."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from harness.boards.board import Board
from harness.boards.config import load_board
from harness.build.image import build_image
from harness.build.toolchain import find_toolchain
from harness.console import protocol
from harness.console.protocol import parse_console
from harness.errors import ConsoleError
from harness.plan import Plan, Program

INSERTED = (*(b"\x1b[2K", b"\xff\xfb\x01", b"\r", b"\n", b"\x00", b"\x08"), b"[ERR] x\r\n", b"@h1 ")
Damage = Callable[[random.Random, bytes, bytes], bytes]
FOREIGN_NONCE = "f" * 16


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recorded console with some noise, its nonce and build, and the same of another run of the image."""
    board = load_board("sim")
    plan = Plan((), (), Program.CALIBRATE)
    image = build_image(plan, board, find_toolchain())
    folder = tmp_path_factory.mktemp("recorded")
    consoles = []
    for nonce in ("0123456789abcdef", FOREIGN_NONCE):
        elf = image.stamped(nonce, folder / f"{nonce}.elf")
        first, *rest = Board(board, 256).run(elf).console.splitlines(keepends=True)
        noise = b"U-Boot 2025.10\r\ncorstone1000# go 0x88200000\r\n"
        consoles.append(noise + first + b"I/TC: \xe2\x9c\x93 noise\r\n" + b"".join(rest))
    return consoles[0], consoles[1], image.build


def flip(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    spoiled = bytearray(sound)
    for _ in range(chance.randint(1, 4)):
        spoiled[chance.randrange(len(spoiled))] ^= 1 << chance.randrange(8)
    return bytes(spoiled)


def replace_bytes(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    spoiled = bytearray(sound)
    for _ in range(chance.randint(1, 4)):
        spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
    return bytes(spoiled)


def drop(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    start = chance.randrange(len(sound))
    return sound[:start] + sound[start + chance.choice((1, 1, 2, 16, 200)) :]


def repeat(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    start = chance.randrange(len(sound))
    return sound[:start] + sound[start : start + chance.choice((1, 2, 16, 200))] + sound[start:]


def truncate(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    return sound[: chance.randrange(len(sound))]


def insert(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    start = chance.randrange(len(sound))
    return sound[:start] + chance.choice(INSERTED) + sound[start:]


def reorder_lines(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    lines = sound.splitlines(keepends=True)
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


def drop_line(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    lines = sound.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def splice(chance: random.Random, sound: bytes, other: bytes) -> bytes:
    """Go on with another run of the same image, at the same line: its sequence numbers fit."""
    here, there = sound.splitlines(keepends=True), other.splitlines(keepends=True)
    start = chance.randrange(len(here))
    end = chance.randrange(start, len(here) + 1)
    return b"".join((*here[:start], *there[start:end], *here[end:]))


DAMAGES: tuple[Damage, ...] = (
    *(flip, replace_bytes, drop, repeat, truncate, insert, reorder_lines, drop_line, splice),
)


def corrupt(recorded, count: int) -> Counter[str]:
    """How often a damaged console gave an error, and how often the same records."""
    sound, other, build = recorded
    nonce = "0123456789abcdef"
    records = [(each.type, each.words) for each in parse_console(sound, nonce, build).records]
    chance = random.Random(85)
    outcomes: Counter[str] = Counter()
    for number in range(count):
        damage = DAMAGES[number % len(DAMAGES)]
        spoiled = damage(chance, sound, other)
        try:
            again = parse_console(spoiled, nonce, build)
        except ConsoleError:
            outcomes["error"] += 1
            continue
        assert [(each.type, each.words) for each in again.records] == records, damage
        outcomes["same"] += 1
    return outcomes


def test_two_thousand_corruptions(recorded):
    outcomes = corrupt(recorded, 2_000)
    assert outcomes["error"] > 1_000
    assert outcomes["same"] > 100  # damage to noise is no damage


@pytest.mark.proof
def test_a_hundred_thousand_corruptions(recorded):
    outcomes = corrupt(recorded, 100_000)
    assert outcomes.total() == 100_000


def test_without_checksums_a_value_changes(recorded, monkeypatch):
    monkeypatch.setattr(protocol, "crc", lambda _text, _nonce: Anything())
    with pytest.raises(AssertionError):
        corrupt(recorded, 2_000)


class Anything:
    """Equal to all else."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


def test_a_record_of_another_run_does_not_count(recorded):
    sound, other, build = recorded
    here, there = sound.splitlines(keepends=True), other.splitlines(keepends=True)
    spliced = b"".join((*here[:10], there[10], *here[11:]))
    with pytest.raises(ConsoleError, match="wrong CRC"):
        parse_console(spliced, "0123456789abcdef", build)
