"""Reading a console, against the least that any reader does: split it into lines, and checksum each."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable

import pytest

from harness.console.protocol import format_record, parse_console

NONCE = "0123456789abcdef"


def seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.benchmark
def test_two_megabytes(capsys):
    fields = {"cell": 7, "slot": 0, "stage": "infer", "index": 1, "networks": 1, "copied": 23456}
    lines = [format_record(0, "hello", {"nonce": NONCE, "build": NONCE}, NONCE)]
    lines += [format_record(number, "counts", fields, NONCE) for number in range(1, 22_000)]
    lines.append(format_record(len(lines), "bye", {"status": "ok"}, NONCE))
    console = "\r\n".join(lines).encode()
    reading = seconds(lambda: parse_console(console, NONCE, NONCE))
    least = seconds(lambda: [zlib.crc32(line) for line in console.split(b"\r\n")])
    with capsys.disabled():
        print(f"\n{len(console) / 1e6:.1f} MB: {reading:.2f} s, {reading / least:.0f} x its peer")  # noqa: T201
