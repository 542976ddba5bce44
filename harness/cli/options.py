"""The options that several commands share, as one table of decorators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.models.compiled import MAC_COUNTS

if TYPE_CHECKING:
    from harness.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])

executable_option = click.option(
    "--executable",
    type=click.Path(path_type=Path),
    help="The board's program, or its folder, in place of the one that is found.",
)

_SETTINGS = (
    click.option(
        "--board",
        default="sim",
        envvar="HARNESS_BOARD",
        show_default=True,
        show_envvar=True,
        help="Board name, board file (.toml) or meta-arm's .fvpconf.",
    ),
    executable_option,
    click.option(
        "--macs",
        type=click.Choice([str(count) for count in MAC_COUNTS]),
        default=None,
        callback=lambda _context, _parameter, value: None if value is None else int(value),
        help="Ethos-U85 MACs per cycle.  [default: the board's]",
    ),
    click.option("--system-config", help="Vela system configuration.  [default: Ethos_U85_SYS_DRAM_Mid]"),
    click.option("--memory-mode", help="Vela memory mode.  [default: Sram_Only]"),
    click.option(
        "--vela-config", type=click.Path(path_type=Path), default=None, help="Vela configuration file (.ini)."
    ),
    click.option(
        "--toolchain",
        default="zig",
        show_default=True,
        help="C compiler: zig, aarch64-none-elf-gcc or aarch64-linux-gnu-gcc.",
    ),
    click.option(
        "--logs",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder for the logs of an FVP's consoles, apart and together with times.",
    ),
    click.option(
        "-C", "parameters", multiple=True, metavar="NAME=VALUE", help="Board parameter; repeatable."
    ),
)


def settings_options(command: Command) -> Command:
    """Give a command the options from which `settings_from` makes its settings."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


def settings_from(modes: str, chosen: Mapping[str, Any]) -> Settings:
    """The settings of a command that has `settings_options`; what was not given takes its default."""
    from harness.settings import resolve_settings

    given = {name: value for name, value in chosen.items() if value is not None}
    return resolve_settings(modes=modes, **given)
