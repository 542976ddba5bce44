"""Where the firmware, the templates and the board files lie: in a checkout, or in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """The folder `firmware`, `templates` or `fvp_configs`.

    Raises FileNotFoundError when neither place has it: the installation is broken.
    """
    for folder in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the installation lacks its folder {name!r}; reinstall corstone-harness")
