"""The firmware's sources, as shipped, with somebody else's driver, or with edits applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.build.implementation import (
    read_sources,
    system_includes,
    with_implementation,
    without_adapters,
)
from harness.data_files import data_folder
from harness.errors import UsageError


@dataclass(frozen=True)
class Edit:
    """Replace a text that occurs exactly once in a file: how a defect is seeded, or a change tried out."""

    file: str  #: relative to the firmware folder, such as "runner/cell.c"
    old: str
    new: str


@dataclass(frozen=True)
class FirmwareTree:
    """A folder of firmware sources, and what is changed in them on the way to the compiler."""

    root: Path = field(default_factory=lambda: data_folder("firmware"))
    edits: tuple[Edit, ...] = ()
    implementation: Path | None = None  #: a driver that takes the place of ours; see docs/driver-interface.md

    @property
    def system_includes(self) -> tuple[str, ...]:
        """Folders among the sources that hold somebody else's files, which are included, without warnings."""
        return system_includes(self.implementation)

    def sources(self) -> Mapping[str, str]:
        """Every source file's text by its path below `root`, sorted.

        Raises UsageError when an edit's file does not exist or its `old` does not occur exactly once, and
        when there is no driver in the folder of the implementation.
        """
        shipped = read_sources(self.root)
        if self.implementation is None:
            texts = without_adapters(shipped)
        else:
            texts = with_implementation(shipped, self.implementation)
        for edit in self.edits:
            texts[edit.file] = _edited(texts, edit)
        return dict(sorted(texts.items()))


def _edited(texts: Mapping[str, str], edit: Edit) -> str:
    if edit.file not in texts:
        raise UsageError(f"the firmware has no file {edit.file!r} to edit")
    occurrences = texts[edit.file].count(edit.old)
    if occurrences != 1:
        raise UsageError(
            f"{edit.file}: the text to replace occurs {occurrences} times, not once: {edit.old!r}"
        )
    return texts[edit.file].replace(edit.old, edit.new)
