"""A stand-in for Arm's Corstone-1000 A320 FVP: an executable that a test starts in the FVP's place.

    fvp = MockFvp(tmp_path, Symptom.LATE_PORTS)
    subprocess.run([fvp.executable, "--version"])

Made from documentation and bug reports; no FVP was run for it, and it proves nothing about one. It is no Arm
software and holds none. docs/mock-fvp.md shows its use.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.testing.behaviour import Behaviour, Script
from harness.testing.symptoms import Symptom

EXECUTABLE = "FVP_Corstone-1000-A320"
BOOT_ROM = Path("trusted-firmware-m/bl1.bin")
FLASH = Path("corstone1000-flash-firmware-image-corstone1000-a320-fvp.wic")
PYTHON_HOME = "python"
_PACKAGE_ROOT = Path(__file__).parents[2]
# `exec` keeps the process id; -I keeps the user's Python settings out of the stand-in's own interpreter.
_EXECUTABLE = """\
#!/bin/sh
exec {python} -I -c {program} {behaviour} "$@"
"""
_PROGRAM = """\
import sys
sys.path.insert(0, {root!r})
from harness.testing.fvp.program import main
sys.exit(main())
"""


class MockFvp:
    """One stand-in in a folder of its own; every run of `executable` behaves as was chosen here."""

    def __init__(
        self,
        folder: Path,
        *symptoms: Symptom,
        name: str = EXECUTABLE,
        version: str = Behaviour.version,
        banner: str = Behaviour.banner,
        release: str = Behaviour.release,
        boot_seconds: float = Behaviour.boot_seconds,
        countdown_seconds: float = Behaviour.countdown_seconds,
        devices: tuple[str, ...] = Behaviour.devices,
        scripts: Mapping[str, Script] | None = None,
    ) -> None:
        """Write the executable, and images that it takes for firmware; makes `folder` when it is missing.

        `Behaviour` says what the choices are.
        """
        self.behaviour = Behaviour(
            symptoms=frozenset(symptoms),
            version=version,
            banner=banner,
            release=release,
            boot_seconds=boot_seconds,
            countdown_seconds=countdown_seconds,
            devices=devices,
            scripts=tuple((scripts or {}).items()),
        )
        self.executable = folder / name  #: what to start
        self.images = folder / "images"  #: of the firmware, as in the folder of a Yocto build
        self.python_home = folder / PYTHON_HOME  #: of the Python that the model brings along
        self._write(folder)

    @property
    def firmware_arguments(self) -> tuple[str, ...]:
        """The options without which a model has nothing to boot."""
        return (
            "-C",
            f"se.trustedBootROMloader.fname={self.images / BOOT_ROM}",
            "--data",
            f"board.flash0={self.images / FLASH}@0x68000000",
        )

    def _write(self, folder: Path) -> None:
        for image in (BOOT_ROM, FLASH):
            (self.images / image).parent.mkdir(parents=True, exist_ok=True)
            (self.images / image).write_bytes(b"stand-in\n")
        (self.python_home / "lib").mkdir(parents=True, exist_ok=True)
        description = folder / f"{self.executable.name}.json"
        description.write_text(self.behaviour.to_json())
        words = {
            "python": sys.executable,
            "program": _PROGRAM.format(root=str(_PACKAGE_ROOT)),
            "behaviour": str(description.resolve()),
        }
        self.executable.write_text(
            _EXECUTABLE.format(**{key: shlex.quote(word) for key, word in words.items()})
        )
        self.executable.chmod(0o755)
