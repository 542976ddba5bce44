"""A budget of running models: as many at once, over all processes of this machine, as its memory takes.

A slot is a locked file. The kernel unlocks it when its process ends, however that happens, so that a worker
that is killed leaves none behind.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from harness.boards.config import BoardConfig
from harness.cache import cache_folder
from harness.errors import UsageError
from harness.processes import Interrupted, interrupted

VARIABLE = "HARNESS_MODELS_AT_ONCE"
_POLL_SECONDS = 0.05


def models_at_once(config: BoardConfig) -> int:
    """How many models of this board may run at once. Raises UsageError when the environment has no number."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        if not chosen.isdecimal() or int(chosen) == 0:
            raise UsageError(f"{VARIABLE} is {chosen!r}; it takes a number from 1 on")
        return int(chosen)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, memory // (config.program.memory_mib << 20))


@contextlib.contextmanager
def model_slot(config: BoardConfig) -> Iterator[None]:
    """Hold one of the slots; waits until there is one."""
    folder = cache_folder("slots")
    with _first_free([folder / f"{number}.lock" for number in range(models_at_once(config))]):
        yield


def _first_free(slots: list[Path]) -> FileLock:
    """The lock of a free slot, locked."""
    while True:
        for slot in slots:
            lock = FileLock(slot)
            with contextlib.suppress(Timeout):
                lock.acquire(blocking=False)
                return lock
        if interrupted():
            raise Interrupted
        time.sleep(_POLL_SECONDS)
