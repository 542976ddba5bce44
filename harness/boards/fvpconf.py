"""Reading meta-arm's `.fvpconf`: what BitBake says of an FVP, on top of what is known of the board.

The keys are those of meta-arm's classes/fvpboot.bbclass and scripts/runfvp. Where a model finds the files of
its disks and flash, and which of its terminals has which role, comes from there; memory map, entry and
landmarks are those of the board `corstone-1000-a320`. Two things are not as runfvp has them: the model ends
with the run, and no port of the host is forwarded, since the file's fixed numbers would be taken twice.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.boards.config import BoardConfig, DataFile, Npu, Terminal, first_problem
from harness.boards.workspace import Value
from harness.errors import UsageError

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_DEFAULT_ROLE = "default"
_ROLES = {"default": "normal", "tf-a": "secure", "se": "enclave"}  #: meta-arm's and ours
_FILES = (".fname", ".p_mmc_file")
_NO_DISK = "invalid.dat"  #: what meta-arm's builds of the firmware alone give for the card of the system
_FORWARDED_PORTS = ".userNetPorts"
_END_WITH_THE_RUN = "host.uart0.shutdown_on_eot"


class _Conf(BaseModel):
    """The file. Its format may change with meta-arm's version: what is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str = ""
    folder: Annotated[str, Field(alias="fvp-bindir")] = ""
    exe: str
    parameters: dict[str, Value] = {}
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
        raise UsageError(f"{path}: {first_problem(error, _Conf)}") from error
    if _DEFAULT_ROLE not in conf.consoles:
        raise UsageError(f"{path}: consoles: no role {_DEFAULT_ROLE!r}, which is the console of the records")
    folder = path.absolute().parent
    consoles = {_ROLES.get(role, role): terminal for role, terminal in _terminals(path, conf).items()}
    applications = conf.applications.items()
    return base.model_copy(
        update={
            "name": path.name,
            "executable": str(folder / conf.folder / conf.exe) if conf.folder else conf.exe,
            "npu": _npu(path, conf, base.npu),
            "parameters": _parameters(folder, conf),
            "copies": tuple(name for name in base.copies if conf.parameters.get(name, _NO_DISK) != _NO_DISK),
            "data": dict(_data_file(path, folder, text) for text in conf.data),
            "consoles": consoles,
            "records": _ROLES[_DEFAULT_ROLE],
            "landmarks": tuple(mark for mark in base.landmarks if mark.console in consoles),
            "environment": conf.env,
            "arguments": (
                *(f"--application={instance}={folder / file}" for instance, file in applications),
                *conf.args,
            ),
        }
    )


def _npu(path: Path, conf: _Conf, base: Npu) -> Npu:
    """The board's NPU, with the MAC count of the file."""
    macs = conf.parameters.get(base.macs_parameter, base.macs)
    try:
        return Npu.model_validate({**base.model_dump(), "macs": int(macs)})
    except ValueError as error:
        raise UsageError(
            f"{path}: parameters.{base.macs_parameter}: there is no Ethos-U85 with {macs} MACs"
        ) from error


def _parameters(folder: Path, conf: _Conf) -> dict[str, Value]:
    """The file's parameters: what names a file is so from the folder of the `.fvpconf` on."""
    kept = {name: value for name, value in conf.parameters.items() if not name.endswith(_FORWARDED_PORTS)}
    located = {
        name: str(folder / value)
        for name, value in kept.items()
        if isinstance(value, str) and value not in ("", _NO_DISK) and name.endswith(_FILES)
    }
    return {_END_WITH_THE_RUN: True, **kept, **located}


def _terminals(path: Path, conf: _Conf) -> dict[str, Terminal]:
    """A terminal for each role: `consoles` has the short names that `terminals` has in full."""
    terminals = {}
    for role, short in conf.consoles.items():
        full = next((name for name in conf.terminals if name.rsplit(".", 1)[-1] == short), None)
        if full is None:
            raise UsageError(f"{path}: consoles.{role}: {short!r} is none of its terminals")
        terminals[role] = Terminal(terminal=full, title=conf.terminals[full] or "")
    return terminals


def _data_file(path: Path, folder: Path, text: str) -> tuple[str, DataFile]:
    memory, equals, rest = text.partition("=")
    file, at, address = rest.rpartition("@")
    number = address.rpartition(":")[2]
    if not (equals and at and file and _ADDRESS.fullmatch(number)):
        raise UsageError(f"{path}: data: {text!r} is not of the form MEMORY=FILE@ADDRESS")
    return memory, DataFile(file=str(folder / file), address=int(number, 0))
