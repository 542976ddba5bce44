"""The firmware's sources, as shipped or with edits applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.data_files import data_folder
from harness.errors import UsageError

_SUFFIXES = (".c", ".h", ".S")


@dataclass(frozen=True)
class Edit:
    """Replace a text that occurs exactly once in a file: how a defect is seeded, or a change tried out."""

    file: str  #: relative to the firmware folder, such as "runner/cell.c"
    old: str
    new: str


@dataclass(frozen=True)
class FirmwareTree:
    """A folder of firmware sources, and the edits to make to them on the way to the compiler."""

    root: Path = field(default_factory=lambda: data_folder("firmware"))
    edits: tuple[Edit, ...] = ()

    def sources(self) -> Mapping[str, str]:
        """Every source file's text by its path below `root`, sorted.

        Raises UsageError when an edit's file does not exist or its `old` does not occur exactly once.
        """
        paths = sorted(path for path in self.root.rglob("*") if path.suffix in _SUFFIXES)
        texts = {path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
        for edit in self.edits:
            texts[edit.file] = _edited(texts, edit)
        return texts


def _edited(texts: Mapping[str, str], edit: Edit) -> str:
    if edit.file not in texts:
        raise UsageError(f"the firmware has no file {edit.file!r} to edit")
    occurrences = texts[edit.file].count(edit.old)
    if occurrences != 1:
        raise UsageError(
            f"{edit.file}: the text to replace occurs {occurrences} times, not once: {edit.old!r}"
        )
    return texts[edit.file].replace(edit.old, edit.new)
