"""Finding a model's executable, and the environment that it runs in."""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.boards.config import BUILT_IN, BoardConfig, substituted
from harness.errors import BoardError, UsageError

# A user's display would have the model open windows, and his Python break the model's own.
_KEPT_OUT = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "PYTHONPATH", "PYTHONHOME")
_LAYERS = 3  #: the release's own folder lies at most so many above its program, as models/Linux64_GCC-9.3/FVP


def find_executable(config: BoardConfig) -> Path:
    """The board's program: by its path, else by its variable, else on PATH or in the usual folders.

    Who gives a path, or sets the variable, wants that program and no other. Raises BoardError that says
    where it was looked for.
    """
    for place in _places(config):
        if place.is_file() and os.access(place, os.X_OK):
            return place.absolute()
    variable = config.program.variable
    raise BoardError(
        f"board {config.name}: its program {config.executable} is in none of the places where it may be",
        evidence=_looked_in(config),
        hint=f"set {variable} to it, or to its folder" if variable else "",
    )


def with_executable(config: BoardConfig, path: Path) -> BoardConfig:
    """The board with the program that a user names, by itself or by its folder.

    Raises UsageError for the built-in simulator, which is no file.
    """
    if config.executable == BUILT_IN:
        raise UsageError(
            f"board {config.name} is the built-in simulator: it has no executable to choose",
            hint="name the board of a model as well, such as --board corstone-1000-a320",
        )
    names = (config.executable, *config.program.other_names)
    program = config.program.model_copy(update={"other_names": names})
    return config.model_copy(update={"executable": str(path.expanduser().absolute()), "program": program})


def program_environment(
    executable: Path, base: Mapping[str, str], more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What the program is to see: `base` without what harms it, its own Python, and `more`."""
    environment = {name: value for name, value in base.items() if name not in _KEPT_OUT}
    above = executable.resolve().parents[:_LAYERS]
    python = next((folder / "python" for folder in above if (folder / "python").is_dir()), None)
    if python is not None:
        libraries = [str(python / "lib"), *filter(None, [base.get("LD_LIBRARY_PATH")])]
        environment |= {"PYTHONHOME": str(python), "LD_LIBRARY_PATH": ":".join(libraries)}
    return {**environment, **(more or {})}


def _names(config: BoardConfig) -> tuple[str, ...]:
    return (config.executable, *config.program.other_names)


def _chosen(config: BoardConfig) -> tuple[str, Path] | None:
    """What the user has chosen, and how he has said it; None when he leaves it to us."""
    if "/" in config.executable:
        return config.executable, Path(substituted(config.executable))
    variable = config.program.variable
    value = os.environ.get(variable, "") if variable else ""
    return (f"{variable}={value}", Path(value).expanduser()) if value else None


def _places(config: BoardConfig) -> Iterator[Path]:
    """Files that it may be, the likeliest first."""
    names = _names(config)
    if (chosen := _chosen(config)) is not None:
        _, path = chosen
        yield path
        yield from (path / Path(name).name for name in names)
        return
    yield from map(Path, filter(None, map(shutil.which, names)))
    for pattern in config.program.folders:
        found = glob.glob(substituted(pattern))  # noqa: PTH207  an absolute pattern
        for folder in map(Path, sorted(found, key=_release, reverse=True)):
            for name in names:
                # As Arm's installer lays it out, and as its archives without an installer do.
                yield from (folder / name, *sorted(folder.glob(f"models/*/{name}")), folder / "bin" / name)


def _release(folder: str) -> list[int | str]:
    """What releases are ordered by: numbers in a folder's name count as such, so that 11.9 is below 11.30."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", folder)]


def _looked_in(config: BoardConfig) -> tuple[str, ...]:
    """The places, a line each."""
    if (chosen := _chosen(config)) is not None:
        said, path = chosen
        return (f"{said}: {_why_not(path, _names(config))}",)
    variable = config.program.variable
    return (*([f"{variable} (not set)"] if variable else []), "PATH", *config.program.folders)


def _why_not(path: Path, names: tuple[str, ...]) -> str:
    if path.is_dir():
        return f"a folder that has no executable {' or '.join(Path(name).name for name in names)}"
    return "not executable" if path.exists() else "does not exist"
