"""A stand-in for Arm's FVP_Corstone-1000-A320: a program with its command line, texts and consoles.

    fvp = MockFvp(tmp_path, Symptom.LATE_PORTS)
    subprocess.run([fvp.executable, "--version"])

It was written from public descriptions of the FVP, and is no Arm software. Behind U-Boot's `go` the image
runs on the simulated platform.
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.testing.symptoms import Symptom

EXECUTABLE = "FVP_Corstone-1000-A320"
VERSION = "11.30.27 (Nov  1 2025)"
DESCRIPTION_VARIABLE = "HARNESS_MOCK_FVP"


@dataclass(frozen=True)
class Script:
    """What a program that is run in the mocked Linux prints, and how it ends."""

    output: str
    status: int = 0


@dataclass(frozen=True)
class Description:
    """How one stand-in behaves."""

    symptoms: tuple[str, ...] = ()
    version: str = VERSION
    boot_seconds: float = 0.1  #: from the first text of the secure enclave to U-Boot's countdown
    countdown_seconds: float = 3.0
    devices: tuple[str, ...] = ("/dev/ethosu0",)  #: of the Linux that `boot` starts
    scripts: tuple[
        tuple[str, Script], ...
    ] = ()  #: what a command does there, by the file name of its program

    def has(self, symptom: Symptom) -> bool:
        """Whether it misbehaves in this way."""
        return symptom.value in self.symptoms


class MockFvp:
    """An executable in a folder of the caller's."""

    def __init__(
        self,
        folder: Path,
        *symptoms: Symptom,
        name: str = EXECUTABLE,
        version: str = VERSION,
        boot_seconds: float = Description.boot_seconds,
        devices: tuple[str, ...] = Description.devices,
        scripts: dict[str, Script] | None = None,
    ) -> None:
        """Write the executable; `scripts` are what programs in its Linux do, by their file names."""
        folder.mkdir(parents=True, exist_ok=True)
        self.executable = folder / name
        description = Description(
            symptoms=tuple(symptom.value for symptom in symptoms),
            version=version,
            boot_seconds=boot_seconds,
            devices=devices,
            scripts=tuple((scripts or {}).items()),
        )
        (folder / f"{name}.json").write_text(json.dumps(asdict(description)))
        program = shlex.join([sys.executable, "-P", "-m", "harness.testing.fvp"])
        self.executable.write_text(
            "#!/bin/sh\n"
            f"export {DESCRIPTION_VARIABLE}={shlex.quote(str(folder / name))}.json\n"
            f'exec {program} "$@"\n'
        )
        self.executable.chmod(0o755)


def read_description(path: Path) -> Description:
    """The description that a MockFvp has written."""
    fields = json.loads(path.read_text())
    scripts = tuple((name, Script(**script)) for name, script in fields.pop("scripts"))
    symptoms, devices = tuple(fields.pop("symptoms")), tuple(fields.pop("devices"))
    return Description(symptoms=symptoms, devices=devices, scripts=scripts, **fields)
