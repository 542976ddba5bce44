"""Large consoles are read in little memory."""

from __future__ import annotations

import tracemalloc

import pytest

from harness.console.protocol import format_record, parse_console

NONCE = "0123456789abcdef"
SIZE = 2 << 20


def console_of(noise: str) -> bytes:
    """Two MiB of records, with noise behind each."""
    fields = {"cell": 7, "slot": 0, "stage": "infer", "index": 1, "networks": 1, "copied": 23456, "zeroed": 3}
    lines = [format_record(0, "hello", {"nonce": NONCE, "build": NONCE}, NONCE)]
    size = 0
    while size < SIZE:
        lines += [format_record(len(lines), "counts", fields, NONCE) + noise]
        size += len(lines[-1])
    lines.append(format_record(len(lines), "bye", {"status": "ok"}, NONCE))
    return "\r\n".join(lines).encode() + b"\r\n\x04"


@pytest.mark.parametrize("noise", ["", "\r\nI/TC: a line of another world", "\x1b[0m\r\n\x1b[32mgreen"])
def test_the_memory_is_less_than_ten_times_the_size(noise):
    console = console_of(noise)
    tracemalloc.start()
    try:
        transcript = parse_console(console, NONCE, NONCE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(transcript.records) > 10_000
    assert peak < 10 * len(console)
