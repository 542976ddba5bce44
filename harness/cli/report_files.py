"""The files that reports on a comparison are written to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.results.report import Report

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub Actions names a file of Markdown that it shows with the job."""

STANDARD_OUTPUT = Path("-")

Words = Sequence[str]  #: a command as it was typed
Writer = Callable[["Report", Words], str]


def _json(report: Report, _command: Words) -> str:
    return json.dumps(report.to_json(), indent=1) + "\n"


def _html(report: Report, command: Words) -> str:
    from harness.results.html import to_html

    return to_html(report, command)


def _markdown(report: Report, command: Words) -> str:
    from harness.results.markdown import to_markdown

    return to_markdown(report, command)


def _junit(report: Report, _command: Words) -> str:
    from harness.results.junit import to_junit

    return to_junit(report)


_WRITERS: Mapping[str, Writer] = {"json": _json, "html": _html, "markdown": _markdown, "junit": _junit}


@dataclass(frozen=True)
class ReportFile:
    """One report, and where it goes."""

    path: Path
    text: Writer
    append: bool = False

    @property
    def printed(self) -> bool:
        """Whether it goes to standard output."""
        return self.path == STANDARD_OUTPUT

    def check(self) -> None:
        """Refuse a file that cannot be written. Raises UsageError."""
        if not self.printed and (self.path.is_dir() or not self.path.absolute().parent.is_dir()):
            raise UsageError(f"cannot write {self.path}: its folder does not exist, or it is a folder itself")

    def write(self, report: Report, command: Words) -> None:
        """Write it, or print it."""
        text = self.text(report, command)
        if self.printed:
            click.echo(text, nl=False)
            return
        with self.path.open("a" if self.append else "w", encoding="utf-8") as file:
            file.write(text)


def report_files(paths: Mapping[str, Path | None]) -> tuple[ReportFile, ...]:
    """The reports that were asked for, by format, and the summary of a GitHub job where there is one.

    Raises UsageError for a file that cannot be written, so that no work is done in vain.
    """
    files = [ReportFile(path, _WRITERS[name]) for name, path in paths.items() if path is not None]
    if summary := os.environ.get(STEP_SUMMARY):
        # A job's other steps write to the same file.
        files.append(ReportFile(Path(summary), _markdown, append=True))
    for file in files:
        file.check()
    return tuple(files)
