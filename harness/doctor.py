"""What this installation has, what it lacks, and the command that mends it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness import __version__
from harness.boards.config import board_names, load_board
from harness.boards.found import State, look_for_program
from harness.boards.simulator import PROGRAM
from harness.build.toolchain import find_toolchain
from harness.errors import HarnessError
from harness.models.tosa_oracle import VARIABLE as TOSA_VARIABLE
from harness.models.tosa_oracle import find_reference_model
from harness.processes import run_tool
from harness.versions import package_version

CORE_DRIVER_VARIABLE = "HARNESS_TEST_CORE_DRIVER"
VELA_VERSIONS = ((5, 1), (5, 3))  #: from, and below


@dataclass(frozen=True)
class Diagnosis:
    """One part of the installation. `needed` parts decide the exit code."""

    part: str
    state: State
    detail: str
    remedy: str = ""
    needed: bool = True


def diagnose() -> tuple[Diagnosis, ...]:
    """Look at every part that the main job uses."""
    checks: tuple[Callable[[], Diagnosis], ...] = (
        *(_toolchain, _compiler, _simulator),
        *(_oracle, _tosa_oracle, _core_driver),
    )
    return (*(check() for check in checks), *(_board(name) for name in board_names()))


def _toolchain() -> Diagnosis:
    try:
        found = find_toolchain()
    except HarnessError as error:
        return Diagnosis("C toolchain", "missing", str(error), error.hint or "pip install ziglang")
    return Diagnosis("C toolchain", "found", found.version)


def _compiler() -> Diagnosis:
    found = package_version("ethos-u-vela")
    remedy = "pip install 'ethos-u-vela>=5.1,<5.3'"
    if found is None:
        return Diagnosis("Vela", "missing", "the model compiler is not installed", remedy)
    numbers = tuple(int(part) for part in found.split(".")[:2])
    if not VELA_VERSIONS[0] <= numbers < VELA_VERSIONS[1]:
        why = f"version {found} is not one this harness was tested with"
        return Diagnosis("Vela", "wrong version", why, remedy)
    return Diagnosis("Vela", "found", found)


def _simulator() -> Diagnosis:
    done = run_tool((*PROGRAM, "--version"), timeout_seconds=20)
    unicorn = package_version("unicorn")
    if done.status != 0 or unicorn is None:
        return Diagnosis(
            "simulator", "missing", f"unicorn: {unicorn or 'not installed'}", "pip install unicorn==2.1.4"
        )
    return Diagnosis("simulator", "found", f"harness-sim {__version__}, unicorn {unicorn}")


def _oracle() -> Diagnosis:
    found = package_version("tflite-micro")
    if found is not None:
        return Diagnosis("tflite-micro", "found", found, needed=False)
    if (sys.platform, platform.machine()) == ("linux", "x86_64"):
        why, remedy = "the oracle of reference outputs is not installed", "pip install corstone-harness"
    else:
        why, remedy = (
            "has wheels for Linux x86-64 only; stored digests stand in for the reference networks, "
            "other models are not compared",
            "",
        )
    return Diagnosis("tflite-micro", "missing", why, remedy, needed=False)


def _tosa_oracle() -> Diagnosis:
    part, remedy = "TOSA model", "pip install tosa-tools, in an environment of its own"
    try:
        found = find_reference_model()
    except HarnessError as error:
        return Diagnosis(part, "missing", str(error), remedy, needed=False)
    if found is None:
        why = f"the oracle of .tosa files: {TOSA_VARIABLE} names no Python that has it"
        return Diagnosis(part, "missing", why, remedy, needed=False)
    return Diagnosis(part, "found", f"tosa-tools {found.version}", needed=False)


def _board(name: str) -> Diagnosis:
    """A board's file, and its program where that is not the built-in simulator: nobody needs an FVP."""
    part = f"board {name}"
    try:
        config = load_board(name)
    except HarnessError as error:
        return Diagnosis(part, "missing", str(error))
    program = look_for_program(config)
    what = f"{config.source}, Ethos-U85-{config.npu.macs}, {program.detail}"
    return Diagnosis(part, program.state, what, program.remedy, needed=config.source == "simulator")


def _core_driver() -> Diagnosis:
    folder = os.environ.get(CORE_DRIVER_VARIABLE)
    if folder and (Path(folder) / "include" / "ethosu_driver.h").is_file():
        return Diagnosis("core driver", "found", folder, needed=False)
    why = f"{folder} is no checkout of it" if folder else f"{CORE_DRIVER_VARIABLE} names no checkout"
    return Diagnosis(
        "core driver",
        "missing",
        f"Arm's, to be held against ours: {why}",
        f"export {CORE_DRIVER_VARIABLE}=PATH",
        needed=False,
    )
