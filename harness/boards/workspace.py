"""A run's own folder: the model works in it, and it has copies there of the files that it changes."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.boards.config import BoardConfig
from harness.errors import UsageError

DISK = "disk.img"
_PREFIX = "harness-board-"
Value = bool | int | str


@dataclass(frozen=True)
class Workspace:
    """The folder of one run, and what the model's parameters are with the copies in it."""

    folder: Path
    parameters: Mapping[str, Value]
    data: tuple[str, ...]  #: what `--data` takes


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """A folder that is gone when the block is left; those of runs that were killed go as well."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        if _is_dead(folder.name.removeprefix(_PREFIX).partition("-")[0]):
            shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _is_dead(pid: str) -> bool:
    if not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def prepare_workspace(config: BoardConfig, parameters: Mapping[str, Value], folder: Path) -> Workspace:
    """Copy the files that each run must have for itself. Raises UsageError for one that is not there.

    `parameters` are all of the run's. What a model writes, such as an image of its non-volatile memory, goes
    into the folder too, and so never into another run.
    """
    copied = {name: str(_copy(config, name, str(parameters[name]), folder)) for name in config.copies}
    data = tuple(
        f"{memory}={_copy(config, memory, data.file, folder)}@{data.address:#x}"
        for memory, data in config.data.items()
    )
    return Workspace(folder, {**parameters, **copied}, data)


def _copy(config: BoardConfig, key: str, file: str, folder: Path) -> Path:
    source = Path(file).absolute()
    if not source.is_file():
        raise UsageError(
            f"board {config.name}: {key} names the file {file}, which does not exist",
            hint=f"`harness boards show {config.name}` shows where that comes from",
        )
    return Path(shutil.copyfile(source, folder / f"{key}{source.suffix}"))
