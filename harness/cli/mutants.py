"""`harness mutants`: proof that the harness sees the defects it is there for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from harness.cli.options import settings_from
from harness.errors import ExitCode

if TYPE_CHECKING:
    from rich.table import Table

    from harness.mutants.kill import Kill


@click.command("mutants", epilog="Example: harness mutants missing-rewind")
@click.argument("names", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="List the mutants, run none.")
@click.option("--markdown", is_flag=True, help="Print the kill table as Markdown.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Mutants at a time.")
def mutants_command(names: tuple[str, ...], only_list: bool, markdown: bool, jobs: int) -> int:
    """Run firmware with seeded defects and see each caught by the check that is meant for it.

    NAMES choose mutants; without any, all are run. Exit code 1 when a mutant survives its check.
    """
    from rich.console import Console

    from harness.cli.progress import showing_progress
    from harness.cli.table import WIDTH
    from harness.mutants.catalogue import choose, load_catalogue
    from harness.mutants.kill import run_mutants

    mutants = choose(names, load_catalogue())
    if only_list:
        for mutant in mutants:
            click.echo(f"{mutant.name}: {mutant.defect}")
        return ExitCode.OK
    with showing_progress() as progress:
        kills = run_mutants(mutants, settings_from("all", {}), jobs=jobs, progress=progress)
    if markdown:
        click.echo(kill_table_as_markdown(kills))
    else:
        Console(width=WIDTH).print(_kill_table(kills))
    survivors = [kill.mutant.name for kill in kills if not kill.killed]
    click.echo(f"{len(kills) - len(survivors)} of {len(kills)} mutants killed by the check meant for them")
    if survivors:
        click.echo(f"survivors: {', '.join(survivors)}")
    return ExitCode.FAILED if survivors else ExitCode.OK


def _kill_table(kills: tuple[Kill, ...]) -> Table:
    from rich.table import Table

    table = Table()
    for heading in ("mutant", "killed by", "also caught by"):
        table.add_column(heading, overflow="fold")
    for kill in kills:
        verdict = f"[green]{kill.mutant.killed_by}[/]" if kill.killed else "[bold red]SURVIVED[/]"
        table.add_row(kill.mutant.name, verdict, ", ".join(kill.others))
    return table


def kill_table_as_markdown(kills: tuple[Kill, ...]) -> str:
    """The kill table for the documentation."""
    heading = ["| mutant | defect | killed by | also caught by |", "|---|---|---|---|"]
    return "\n".join([*heading, *map(kill_table_row, kills)])


def kill_table_row(kill: Kill) -> str:
    """One mutant's line of the kill table."""
    mutant = kill.mutant
    verdict = f"`{mutant.killed_by}`" if kill.killed else "**survived**"
    others = ", ".join(f"`{check}`" for check in kill.others)
    return f"| `{mutant.name}` | {mutant.defect} | {verdict} | {others} |"
