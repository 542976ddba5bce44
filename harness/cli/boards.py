"""`harness boards`: what can be run on, what a board file says, and whether all of it is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from harness.cli.options import executable_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

_COLOURS = {"found": "green", "missing": "yellow", "wrong version": "red"}


@click.group("boards")
def boards_group() -> None:
    """List, show and check boards.

    A board is a name, or the path of a board file (.toml) or of a meta-arm configuration (.fvpconf).
    """


@boards_group.command("list", epilog="Example: harness boards list")
def list_command() -> int:
    """List the boards, and whether their programs are here, in which version, or why not.

    The memory is that of the host, for one running model.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from harness.boards.config import board_names, load_board
    from harness.boards.found import look_for_program
    from harness.cli.table import WIDTH

    table = Table(width=WIDTH)
    for heading in ("name", "source", "Ethos-U85", "memory", "program"):
        table.add_column(heading, overflow="fold")
    for name in board_names():
        config = load_board(name)
        found = look_for_program(config)
        state = f"[{_COLOURS[found.state]}]{found.state}[/]: {escape(found.detail)}"
        memory = f"{config.program.memory_mib} MiB"
        table.add_row(name, config.source, str(config.npu.macs), memory, state)
    Console(width=WIDTH).print(table)
    return 0


@boards_group.command("show", epilog="Example: harness boards show corstone-1000-a320")
@click.argument("board")
def show_command(board: str) -> int:
    """Show all that a board file says, and what it leaves to the defaults, a line for each key.

    Environment variables and ~ are shown as they are written; they are replaced when the board is run.
    """
    from harness.boards.config import load_board

    config = load_board(board)
    given = config.model_dump(exclude_unset=True, by_alias=True)
    for key, value in _flat(config.model_dump(by_alias=True)):
        click.echo(f"{key} = {_shown(key, value)}" + ("" if _is_in(given, key) else "  (default)"))
    return 0


@boards_group.command("check", epilog="Example: harness boards check corstone-1000-a320")
@click.argument("board")
@executable_option
@click.option("-C", "parameters", multiple=True, metavar="NAME=VALUE", help="Board parameter; repeatable.")
def check_command(board: str, executable: Path | None, parameters: tuple[str, ...]) -> int:
    """Check everything of BOARD that can be checked without starting it.

    The board file, its environment variables and files, the program, its version, and that it has every
    parameter. Exit code: 0 all is here, 2 the board file or a parameter is wrong, 3 the program is missing.
    """
    from harness.boards.check import check_board
    from harness.boards.config import load_board
    from harness.boards.executable import with_executable
    from harness.settings import parse_parameters

    config = load_board(board)
    if executable is not None:
        config = with_executable(config, executable)
    checked = check_board(config, parse_parameters(parameters))
    for part in checked:
        click.echo(f"{part.what}: {part.error or part.found}")
        if part.error is not None:
            for line in (*part.error.evidence, *([f"hint: {part.error.hint}"] if part.error.hint else [])):
                click.echo(f"  {line}")
    return max((part.error.exit_code for part in checked if part.error is not None), default=0)


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of nested tables, its parts joined by dots."""
    for key, inner in value.items():
        quoted = f'"{key}"' if "." in key else key
        if isinstance(inner, dict) and inner:
            yield from _flat(inner, f"{prefix}{quoted}.")
        else:
            yield f"{prefix}{quoted}", inner


def _is_in(given: Mapping[str, Any], key: str) -> bool:
    return key in dict(_flat(given))


def _shown(key: str, value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and key.endswith(("_base", "_address", "_size", "base", ".address")):
        return f"{value:#x}"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_shown("", each) for each in value) + "]"
    return str(value)
