"""What is being done right now, for whoever watches a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from harness.examination import Progress as Report


@contextmanager
def showing_progress() -> Iterator[Report]:
    """A progress display on standard error; nothing at all where that is no terminal."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description:<24}"), TextColumn("{task.fields[step]:<16}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as display:
        tasks = {}

        def report(model: str, step: str) -> None:
            if model not in tasks:
                tasks[model] = display.add_task(model, step=step, total=1)
            display.update(tasks[model], step=step, completed=1 if step == "done" else 0)

        yield report
