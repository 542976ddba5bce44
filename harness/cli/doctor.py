"""`harness doctor`: whether everything is here that the main job needs."""

from __future__ import annotations

import click

from harness.errors import ExitCode


@click.command("doctor", epilog="Example: harness doctor")
def doctor_command() -> int:
    """Say for each part whether it was found, and the command that installs it where not.

    Exit code 3 when a part is missing that `harness compare` needs.
    """
    from rich.console import Console
    from rich.table import Table

    from harness.cli.table import WIDTH
    from harness.doctor import diagnose

    table = Table(width=WIDTH)
    for heading in ("part", "state", "detail"):
        table.add_column(heading, overflow="fold")
    found = diagnose()
    for part in found:
        colour = "green" if part.state == "found" else "red" if part.needed else "yellow"
        remedy = f"\n→ {part.remedy}" if part.remedy else ""
        table.add_row(part.part, f"[{colour}]{part.state}[/]", part.detail + remedy)
    Console(width=WIDTH).print(table)
    complete = all(part.state == "found" for part in found if part.needed)
    return ExitCode.OK if complete else ExitCode.INFRASTRUCTURE
