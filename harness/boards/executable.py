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
    looked: list[str] = []
    for place in _places(config):
        looked.append(str(place))
        if place.is_file() and os.access(place, os.X_OK):
            return place.absolute()
    names = _names(config)
    on_path = (shutil.which(name) for name in names)
    if found := next((path for path in on_path if path), None):
        return Path(found).absolute()
    variable = config.program.variable
    raise BoardError(
        f"board {config.name}: no program {' or '.join(names)}; looked in {', '.join((*looked, 'PATH'))}",
        hint=f"set {variable} to it, or to its folder; `harness doctor` shows what was found"
        if variable
        else "",
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
        folders = sorted(glob.glob(substituted(pattern)), reverse=True)  # noqa: PTH207  an absolute pattern
        for folder in folders:
            for name in _names(config):
                yield Path(folder) / name
                yield from sorted(Path(folder).glob(f"models/*/{name}"))
                yield Path(folder) / "bin" / name
