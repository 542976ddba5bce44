"""The cache on disk: folders named by the content they were made from, published whole or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import filelock
import platformdirs

from harness.errors import BuildError, UsageError

CACHE_VARIABLE = "HARNESS_CACHE_DIR"
LOCK_TIMEOUT_S = 600.0  #: longer than any one entry takes to make


def cache_folder(kind: str) -> Path:
    """The folder of all entries of one kind, such as `vela`; made when it is missing.

    It lies under `HARNESS_CACHE_DIR`, or in the user's cache folder where that is unset. Raises UsageError
    when it cannot be made.
    """
    override = os.environ.get(CACHE_VARIABLE)
    root = Path(override).absolute() if override else platformdirs.user_cache_path("corstone-harness")
    folder = root / kind
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"the cache folder {folder} cannot be made: {error.strerror}",
            hint=f"set {CACHE_VARIABLE} to a folder that can be written",
        ) from error
    return folder


def content_key(*parts: bytes | str) -> str:
    """A digest of all parts; each is preceded by its length, so that no two lists of parts run together."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def cached_folder(kind: str, key: str, produce: Callable[[Path], None]) -> Path:
    """The entry `key` of `kind`; `produce` fills it on a miss.

    `produce` gets an empty folder and may raise: then nothing is published. Of several processes that miss at
    once, one produces and the others wait for it. Raises BuildError when that takes over `LOCK_TIMEOUT_S`.
    """
    entry = cache_folder(kind) / key
    if entry.is_dir():
        return entry
    lock_file = entry.with_suffix(".lock")
    try:
        with filelock.FileLock(lock_file, timeout=LOCK_TIMEOUT_S):
            if not entry.is_dir():
                _publish(entry, produce)
    except filelock.Timeout as error:
        raise BuildError(
            f"another process has held the cache entry {entry} for {LOCK_TIMEOUT_S:.0f} s",
            hint=f"end that process, or set {CACHE_VARIABLE} to another folder",
        ) from error
    return entry


def _publish(entry: Path, produce: Callable[[Path], None]) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=f".{entry.name}-", dir=entry.parent))
    try:
        produce(scratch)
        scratch.replace(entry)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
