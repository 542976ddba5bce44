"""Bytes to a descriptor that a harness reads: `send` waits for the reader, `offer` does not."""

from __future__ import annotations

import os
import select


class ConsoleClosed(Exception):
    """Whoever read the output has gone."""


def send(descriptor: int, pending: bytearray) -> None:
    """Write all of `pending` and empty it; raises ConsoleClosed."""
    while pending:
        _write(descriptor, pending, len(pending))


def offer(descriptor: int, pending: bytearray) -> None:
    """Write what can be written without a wait, and take it out of `pending`; raises ConsoleClosed."""
    while pending and select.select([], [descriptor], [], 0)[1]:
        # A pipe that select() calls ready takes this much at once, pipe(7).
        _write(descriptor, pending, select.PIPE_BUF)


def _write(descriptor: int, pending: bytearray, most: int) -> None:
    try:
        written = os.write(descriptor, pending[:most])
    except OSError as error:  # EPIPE from a pipe, EIO from a terminal, ENOSPC from a file
        pending.clear()
        raise ConsoleClosed(f"the console cannot be written: {error.strerror}") from None
    del pending[:written]
