"""Reading meta-arm's `.fvpconf`: what BitBake says of an FVP, on top of what is known of the board.

The keys are those of meta-arm's classes/fvpboot.bbclass and scripts/runfvp. Where a model finds the files of
its disks and flash, and which of its terminals has which role, comes from there; memory map, entry and
landmarks are those of the board `corstone-1000-a320`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.boards.config import BoardConfig, DataFile, Terminal
from harness.errors import UsageError

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_DEFAULT_ROLE = "default"
_ROLES = {"default": "normal", "tf-a": "secure", "se": "enclave"}  #: meta-arm's and ours
_DISKS = ("board.msd_mmc.p_mmc_file", "board.msd_mmc_2.p_mmc_file")
_FILES = (".fname", ".p_mmc_file")


class _Conf(BaseModel):
    """The file. Its format may change with meta-arm's version: what is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str = ""
    folder: Annotated[str, Field(alias="fvp-bindir")] = ""
    exe: str
    parameters: dict[str, str | int | bool] = {}
    data: list[str] = []
    applications: dict[str, str] = {}
    terminals: dict[str, str | None] = {}
    args: list[str] = []
    consoles: dict[str, str] = {}
    env: dict[str, str] = {}


def read_fvpconf(path: Path, base: BoardConfig) -> BoardConfig:
    """The board that a `.fvpconf` describes. Raises UsageError that names file and key."""
    try:
        conf = _Conf.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path}: {place}: {first['msg'].lower()}") from error
    if _DEFAULT_ROLE not in conf.consoles:
        raise UsageError(f"{path}: consoles: no role {_DEFAULT_ROLE!r}, which is the console of the records")
    folder = path.absolute().parent
    consoles = {_ROLES.get(role, role): terminal for role, terminal in _terminals(path, conf).items()}
    return base.model_copy(
        update={
            "name": path.name,
            "executable": str(folder / conf.folder / conf.exe) if conf.folder else conf.exe,
            "parameters": {name: _located(folder, name, value) for name, value in conf.parameters.items()},
            "copies": tuple(
                name
                for name in _DISKS
                if name in conf.parameters and (base.boot is None or name != base.boot.disk_parameter)
            ),
            "data": dict(_data_file(path, folder, text) for text in conf.data),
            "consoles": consoles,
            "records": _ROLES[_DEFAULT_ROLE],
            "landmarks": tuple(mark for mark in base.landmarks if mark.console in consoles),
            "environment": conf.env,
            "arguments": (
                *(
                    f"--application={instance}={folder / file}"
                    for instance, file in conf.applications.items()
                ),
                *conf.args,
            ),
        }
    )


def _terminals(path: Path, conf: _Conf) -> dict[str, Terminal]:
    """A terminal for each role: `consoles` has the short names that `terminals` has in full."""
    terminals = {}
    for role, short in conf.consoles.items():
        full = next((name for name in conf.terminals if name.rsplit(".", 1)[-1] == short), None)
        if full is None:
            raise UsageError(f"{path}: consoles.{role}: {short!r} is none of its terminals")
        terminals[role] = Terminal(terminal=full, title=conf.terminals[full] or "")
    return terminals


def _located(folder: Path, name: str, value: str | int | bool) -> str | int | bool:
    """A parameter that names a file, from the folder of the `.fvpconf` on."""
    return str(folder / value) if isinstance(value, str) and value and name.endswith(_FILES) else value


def _data_file(path: Path, folder: Path, text: str) -> tuple[str, DataFile]:
    memory, equals, rest = text.partition("=")
    file, at, address = rest.rpartition("@")
    number = address.rpartition(":")[2]
    if not (equals and at and file and _ADDRESS.fullmatch(number)):
        raise UsageError(f"{path}: data: {text!r} is not of the form MEMORY=FILE@ADDRESS")
    return memory, DataFile(file=str(folder / file), address=int(number, 0))
