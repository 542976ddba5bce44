"""How a stand-in behaves: a frozen description, written beside the executable, which reads it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.testing.symptoms import Symptom


@dataclass(frozen=True)
class Script:
    """What a program of the played Linux does instead of running."""

    output: str = ""  #: on its standard output
    status: int = 0
    commands: str = ""  #: shell commands before that; `$1`, `$2`, … are the program's arguments


@dataclass(frozen=True)
class Behaviour:
    """All that a test chooses about a stand-in."""

    symptoms: frozenset[Symptom] = frozenset()
    version: str = "11.30.27 (Nov  1 2025)"
    banner: str = "Fast Models [{version}]"  #: first line of --version and of every run
    release: str = "2026.05"  #: of the firmware: a key of `harness.testing.fvp.boot.RELEASES`
    boot_seconds: float = 0.1  #: from reset to U-Boot, and as long from there to Linux's login
    countdown_seconds: float = 3.0  #: until U-Boot boots Linux by itself
    devices: tuple[str, ...] = ("/dev/ethosu0",)  #: that Linux has for the NPU
    scripts: tuple[tuple[str, Script], ...] = ()  #: name of a file on a card → what it does when it is run

    @property
    def first_line(self) -> str:
        """The banner with its version."""
        return self.banner.format(version=self.version)

    def to_json(self) -> str:
        """Write it down."""
        return json.dumps(asdict(self) | {"symptoms": sorted(symptom.name for symptom in self.symptoms)})


def read_behaviour(file: Path) -> Behaviour:
    """Read what `Behaviour.to_json` wrote."""
    values: dict[str, Any] = json.loads(file.read_text())
    values["symptoms"] = frozenset(Symptom[name] for name in values["symptoms"])
    values["devices"] = tuple(values["devices"])
    values["scripts"] = tuple((name, Script(**script)) for name, script in values["scripts"])
    return Behaviour(**values)
