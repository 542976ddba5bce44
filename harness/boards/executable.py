"""Finding a model's executable, and the environment that it runs in."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.boards.config import BoardConfig, substituted
from harness.errors import BoardError

# A user's display would have the model open windows, and his Python break the model's own.
_KEPT_OUT = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "PYTHONPATH", "PYTHONHOME")


def find_executable(config: BoardConfig) -> Path:
    """The board's program: by its path, its variable, PATH, or in the usual folders, under all its names.

    Raises BoardError that says where it was looked for.
    """
    for place in _places(config):
        if place.is_file() and os.access(place, os.X_OK):
            return place.absolute()
    on_path = filter(None, (shutil.which(name) for name in _names(config)))
    if found := next(on_path, None):
        return Path(found).absolute()
    raise BoardError(
        f"board {config.name}: its program {config.executable} is in none of the places where it may be",
        evidence=_looked_in(config),
        hint=f"set {config.program.variable} to it, or to its folder" if config.program.variable else "",
    )


def program_environment(
    executable: Path, base: Mapping[str, str], more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What the program is to see: `base` without what harms it, its own Python, and `more`."""
    environment = {name: value for name, value in base.items() if name not in _KEPT_OUT}
    python = next(
        (parent / "python" for parent in executable.parents[:4] if (parent / "python").is_dir()), None
    )
    if python is not None:
        libraries = [str(python / "lib"), *filter(None, [base.get("LD_LIBRARY_PATH")])]
        environment |= {"PYTHONHOME": str(python), "LD_LIBRARY_PATH": ":".join(libraries)}
    return {**environment, **(more or {})}


def _names(config: BoardConfig) -> tuple[str, ...]:
    return (config.executable, *config.program.other_names)


def _looked_in(config: BoardConfig) -> tuple[str, ...]:
    """The places, a line each."""
    if "/" in config.executable:
        return (config.executable,)
    variable = config.program.variable
    if variable and variable in os.environ:
        return (f"{variable}={os.environ[variable]}", "PATH")
    return (*([f"{variable}, which is not set"] if variable else []), *config.program.folders, "PATH")


def _places(config: BoardConfig) -> Iterator[Path]:
    """Files that it may be, the likeliest first."""
    if "/" in config.executable:
        yield Path(config.executable).expanduser()
        return
    program = config.program
    if program.variable and (chosen := os.environ.get(program.variable)):
        path = Path(chosen).expanduser()
        yield path
        yield from (path / name for name in _names(config))
        return
    for pattern in program.folders:
        # Sorted, so that of several releases the newest is found.
        found = sorted(glob.glob(substituted(pattern)), reverse=True)  # noqa: PTH207  an absolute pattern
        for folder in found or [substituted(pattern)]:
            for name in _names(config):
                yield Path(folder) / name
                yield from sorted(Path(folder).glob(f"models/*/{name}"))
                yield Path(folder) / "bin" / name
