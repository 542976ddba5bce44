"""Large consoles are read in little memory, whatever they hold."""

from __future__ import annotations

import random
import tracemalloc
from itertools import count

import pytest

from harness.console.protocol import MAX_LINE, Transcript, format_record, parse_console


def enlarged(recorded, size: int) -> bytes:
    """The recorded console with its records and noise over and over, numbered on: at least `size` bytes."""
    transcript = parse_console(recorded.sound, recorded.nonce, recorded.build)
    hello, *body, bye = transcript.records
    body = [each for each in body if len(each.words) < MAX_LINE - 40]  # leaves room for longer numbers
    lines = [format_record(0, hello.type, hello.fields, recorded.nonce)]
    numbers = count(1)
    length = 0
    while length < size:
        again = [format_record(next(numbers), each.type, each.fields, recorded.nonce) for each in body]
        lines += [*transcript.noise, *again]
        length += sum(len(line) + 2 for line in (*transcript.noise, *again))
    lines.append(format_record(next(numbers), bye.type, bye.fields, recorded.nonce))
    return "\r\n".join(lines).encode() + b"\r\n\x04"


def read_in_bounds(console: bytes, recorded) -> Transcript:
    tracemalloc.start()
    try:
        transcript = parse_console(console, recorded.nonce, recorded.build)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(console)
    return transcript


def test_two_mebibytes_take_less_than_ten_times_as_much_memory(recorded):
    console = enlarged(recorded, 2 << 20)
    assert len(read_in_bounds(console, recorded).records) > 20_000


def test_so_do_the_shortest_records(recorded):
    fields = {"nonce": recorded.nonce, "build": recorded.build}
    lines = [format_record(0, "hello", fields, recorded.nonce)]
    lines += [format_record(number, "x", {"a": 1}, recorded.nonce) for number in range(1, 10_000)]
    lines.append(format_record(10_000, "bye", {"status": "ok"}, recorded.nonce))
    read_in_bounds("\n".join(lines).encode(), recorded)


@pytest.mark.parametrize(
    "noise",
    [
        *(b"ab\n", b"\n", b"a\r", b"ab\x08", b"ab\x1b[m", b"\x1b]", b"\xff\xf1", b"\xff\xfa", b"\x80"),
        *(b"@h1", b"\xe2\x9c\x93 done\r\n", random.Random(85).randbytes(1 << 16)),
    ],
    ids=[
        *("short-lines", "empty-lines", "bare-cr", "backspaces", "colour", "titles", "telnet", "negotiation"),
        *("not-ascii", "almost-marks", "utf-8", "random"),
    ],
)
def test_so_does_whatever_else_a_console_prints(recorded, noise):
    hello, rest = recorded.sound.split(b"\r\n@h1 1 ")
    console = hello + b"\n" + noise * ((1 << 18) // len(noise)) + b"\n@h1 1 " + rest
    sound = parse_console(recorded.sound, recorded.nonce, recorded.build).records
    read = read_in_bounds(console, recorded).records
    assert [each.words for each in read] == [each.words for each in sound]
