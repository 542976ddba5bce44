"""The cache publishes whole entries only, and makes each once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import filelock
import pytest

from harness import cache
from harness.errors import BuildError, UsageError


def test_the_folder_lies_where_the_variable_says(private_cache: Path) -> None:
    assert cache.cache_folder("vela") == private_cache / "vela"


def test_without_the_variable_the_folder_is_the_users_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(cache.CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_folder("vela").is_relative_to(tmp_path)


def test_a_folder_that_cannot_be_made_is_the_users_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(UsageError, match=r"the cache folder .*file/vela cannot be made"):
        cache.cache_folder("vela")


def test_a_key_tells_two_splits_of_the_same_text_apart() -> None:
    assert cache.content_key("ab", "c") != cache.content_key("a", "bc")


def test_a_text_and_its_bytes_have_the_same_key() -> None:
    assert cache.content_key("text") == cache.content_key(b"text")


def test_an_entry_is_made_once(private_cache: Path) -> None:
    made: list[Path] = []
    for _ in range(2):
        entry = cache.cached_folder("kind", "key", made.append)
    assert len(made) == 1
    assert entry == private_cache / "kind" / "key"


def test_a_failure_leaves_nothing_behind(private_cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("half an entry")
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        cache.cached_folder("kind", "key", fail)
    assert [path.name for path in (private_cache / "kind").iterdir() if path.suffix != ".lock"] == []


def test_an_entry_can_be_made_after_a_failure(private_cache: Path) -> None:
    def fail(folder: Path) -> None:
        raise ValueError("not yet")

    with pytest.raises(ValueError, match="not yet"):
        cache.cached_folder("kind", "key", fail)
    entry = cache.cached_folder("kind", "key", lambda folder: (folder / "done").touch())
    assert (entry / "done").exists()


def test_waiting_for_another_process_ends(private_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LOCK_TIMEOUT_S", 0.05)
    lock = filelock.FileLock(cache.cache_folder("kind") / "key.lock")
    with lock, pytest.raises(BuildError, match="another process has held"):
        cache.cached_folder("kind", "key", lambda folder: None)


MAKE_SLOWLY = """
import pathlib, sys, time
from harness.cache import cached_folder

def make(folder):
    with pathlib.Path(sys.argv[1]).open("a") as lines:
        lines.write("made\\n")
    time.sleep(0.2)

cached_folder("kind", "key", make)
"""


def test_two_processes_make_an_entry_once(private_cache: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", MAKE_SLOWLY, str(log)]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(timeout=30) for process in processes] == [0, 0]
    assert log.read_text() == "made\n"
