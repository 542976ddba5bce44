"""A damaged console gives a typed error or the very same records, never another value.

What a run record says follows from its records alone, so the records are what is compared.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from harness.console import protocol
from harness.console.protocol import format_record, parse_console
from harness.errors import ConsoleError

TERMINAL = (b"\x1b[2K", b"\x1b]0;title\x07", b"\x1b", b"\xff\xfb\x01", b"\xff\xfa\x18\x00\xff\xf0", b"\xff")
CONTROLS = (b"\r", b"\n", b"\x00", b"\x04", b"\x08")
NOISE = (b"[ERR] x\r\n", "\u2713".encode(), b"corstone1000# ", b"@h1 ", b"@h1 3 ", b" *00000000")
INSERTED = (*TERMINAL, *CONTROLS, *NOISE)
Damage = Callable[[random.Random, bytes, bytes], bytes]


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


def swap_bytes(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    spoiled = bytearray(sound)
    here, there = chance.randrange(len(sound)), chance.randrange(len(sound))
    spoiled[here], spoiled[there] = spoiled[there], spoiled[here]
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
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(sound))
        sound = sound[:start] + chance.choice(INSERTED) + sound[start:]
    return sound


def swap_lines(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    lines = sound.splitlines(keepends=True)
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


def drop_line(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    lines = sound.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def repeat_line(chance: random.Random, sound: bytes, _other: bytes) -> bytes:
    lines = sound.splitlines(keepends=True)
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return b"".join(lines)


def splice(chance: random.Random, sound: bytes, other: bytes) -> bytes:
    """Go on with another run of the same image, at the same line: its sequence numbers fit."""
    here, there = sound.splitlines(keepends=True), other.splitlines(keepends=True)
    start = chance.randrange(len(here))
    end = chance.randrange(start, len(here) + 1)
    return b"".join((*here[:start], *there[start:end], *here[end:]))


DAMAGES: tuple[Damage, ...] = (
    *(flip, replace_bytes, swap_bytes, drop, repeat, truncate, insert),
    *(swap_lines, drop_line, repeat_line, splice),
)


@dataclass(frozen=True)
class Outcomes:
    """How often a damaged console gave an error, and how often the same records."""

    errors: int
    same: int


def corrupt(recorded, count: int) -> Outcomes:
    """Damage the console in many ways; AssertionError when one gives other records."""
    records = spoken(recorded.sound, recorded)
    chance = random.Random(85)
    outcomes: Counter[str] = Counter()
    for number in range(count):
        damage = DAMAGES[number % len(DAMAGES)]
        try:
            again = spoken(damage(chance, recorded.sound, recorded.other), recorded)
        except ConsoleError:
            outcomes["errors"] += 1
            continue
        assert again == records, damage
        outcomes["same"] += 1
    return Outcomes(**outcomes)


def spoken(console: bytes, recorded) -> list[tuple[int, str, str]]:
    transcript = parse_console(console, recorded.nonce, recorded.build)
    return [(each.sequence, each.type, each.words) for each in transcript.records]


@pytest.fixture(params=["whole", "ended-by-exception"])
def console(recorded, request):
    """A recorded console, and the same as an exception cuts it short: the record that breaks off is noise."""
    if request.param == "whole":
        return recorded
    return replace(
        recorded,
        sound=ended_by_exception(recorded.sound, recorded.nonce),
        other=ended_by_exception(recorded.other, "f" * 16),
    )


def ended_by_exception(sound: bytes, nonce: str) -> bytes:
    """The console as it is when an exception comes in the middle of record 10."""
    before, record = sound[: sound.index(b"@h1 10 ")], sound[sound.index(b"@h1 10 ") :]
    where = {"cell": "-", "slot": "-", "index": "-"}
    last = (
        format_record(10, "fault", {**where, "kind": "exception", "vector": 4, "el": 1}, nonce),
        format_record(11, "fault", {**where, "kind": "exception", "esr": "96000045", "far": "0"}, nonce),
        format_record(12, "bye", {"status": "fault"}, nonce),
    )
    return before + record[:40] + "\r\n".join(("", *last, "\x04")).encode()


def test_two_thousand_corruptions(console):
    outcomes = corrupt(console, 2_000)
    assert outcomes.errors > 1_000
    assert outcomes.same > 100  # damage to noise is no damage


@pytest.mark.proof
def test_a_hundred_thousand_corruptions(console):
    outcomes = corrupt(console, 100_000)
    print(outcomes)  # noqa: T201 - shown by pytest -rP
    assert outcomes.errors + outcomes.same == 100_000


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
    here, there = (console.splitlines(keepends=True) for console in (recorded.sound, recorded.other))
    spliced = b"".join((*here[:10], there[10], *here[11:]))
    with pytest.raises(ConsoleError, match="line 11: wrong CRC"):
        spoken(spliced, recorded)
