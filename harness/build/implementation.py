"""A user's driver in place of ours: which of its files go into the firmware, and where they stand there.

A folder stands in for `ethosu/`: its C files replace all of ours, and of our headers those that it does not
bring itself remain, as the interface. A checkout of Arm's ethos-u-core-driver goes in whole, beside an
adapter that puts it behind the same interface.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from harness.errors import BuildError, UsageError

GUIDE = "docs/driver-interface.md"
SUFFIXES = (".c", ".h", ".S")  #: of the files that firmware is made of

DRIVER = "ethosu"  #: our driver, in the firmware
ADAPTERS = "adapters"  #: what puts somebody else's driver behind our interface
CORE_DRIVER = "core_driver"  #: a checkout of Arm's driver, and the name of its adapter

_CORE_DRIVER_HEADER = "include/ethosu_driver.h"
_CORE_DRIVER_SOURCE = "src/ethosu_driver.c"
_CORE_DRIVER_FOLDERS = ("include", "src", "config")  #: newer releases have the last one
_ADAPTER = f"{ADAPTERS}/{CORE_DRIVER}"
_REPLACED_BY_ADAPTER = f"{DRIVER}/ethosu_device.c"  #: the one file of ours that runs the NPU

_UNDEFINED = re.compile(r"undefined (?:symbol: |reference to .)(\w+)")


def read_sources(folder: Path) -> dict[str, str]:
    """The text of every C and assembler file in a folder, by its path below it, sorted."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    return {path.relative_to(folder).as_posix(): _text(path) for path in paths}


def is_core_driver(folder: Path) -> bool:
    """Whether a folder is a checkout of Arm's ethos-u-core-driver."""
    return all((folder / file).is_file() for file in (_CORE_DRIVER_HEADER, _CORE_DRIVER_SOURCE))


def without_adapters(firmware: Mapping[str, str]) -> dict[str, str]:
    """The firmware as it is with a driver that needs no adapter."""
    return {name: text for name, text in firmware.items() if not name.startswith(f"{ADAPTERS}/")}


def with_implementation(firmware: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The firmware with the driver in `folder` in place of ours.

    Raises UsageError when there is no such folder, or no driver in it.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder} to take an implementation from")
    if is_core_driver(folder):
        return _with_core_driver(firmware, folder)
    driver = read_sources(folder)
    if not any(name.endswith(".c") for name in driver):
        raise UsageError(
            f"{folder} holds no implementation: there is no C file in it",
            hint=f"it takes a driver as {GUIDE} describes it, or a checkout of Arm's ethos-u-core-driver",
        )
    kept = {
        name: text
        for name, text in without_adapters(firmware).items()
        if not (name.startswith(f"{DRIVER}/") and name.endswith(".c"))
    }
    return {**kept, **{f"{DRIVER}/{name}": text for name, text in driver.items()}}


def system_includes(folder: Path | None) -> tuple[str, ...]:
    """The folders of a firmware with this driver whose files are somebody else's.

    They are included without warnings, their C files too: the adapter includes those that it needs.
    """
    if folder is None or not is_core_driver(folder):
        return ()
    return (CORE_DRIVER, *(f"{CORE_DRIVER}/{name}" for name in _CORE_DRIVER_FOLDERS), f"{_ADAPTER}/libc")


def explain(error: BuildError, folder: Path) -> BuildError:
    """What a failed build with this driver means, where functions that it lacks are the reason."""
    missing = sorted({name for line in error.evidence for name in _UNDEFINED.findall(line)})
    if not missing:
        return error
    return BuildError(
        f"the implementation in {folder} lacks {', '.join(missing)}",
        hint=f"{GUIDE} says what each function has to do",
        evidence=error.evidence,
    )


def _with_core_driver(firmware: Mapping[str, str], checkout: Path) -> dict[str, str]:
    theirs = {
        f"{CORE_DRIVER}/{folder}/{name}": text
        for folder in _CORE_DRIVER_FOLDERS
        for name, text in read_sources(checkout / folder).items()
    }
    adapter = {
        name: text
        for name, text in firmware.items()
        if name.startswith(f"{_ADAPTER}/") and _finds_its_file(name, theirs)
    }
    ours = without_adapters(firmware)
    del ours[_REPLACED_BY_ADAPTER]
    return {**ours, **adapter, **theirs}


def _finds_its_file(name: str, theirs: Mapping[str, str]) -> bool:
    """Whether a file of the adapter has what it includes: upstream_x.c is all of the checkout's ethosu_x.c.

    Releases differ in which of these they have. The adapter itself could ask with __has_include, but zig's
    cache does not see a file appear that was asked for in vain.
    """
    included = re.fullmatch(rf"{_ADAPTER}/upstream_(\w+\.c)", name)
    return included is None or f"{CORE_DRIVER}/src/ethosu_{included[1]}" in theirs


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is no UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}"
        ) from error
