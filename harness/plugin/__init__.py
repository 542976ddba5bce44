"""The pytest plugin: fixtures and options, and nothing heavy until a fixture is used.

def test_persistent_objects(harness_compare):
    assert harness_compare("ds_cnn").identical
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.boards.board import Board
    from harness.plugin.outcome import ModelOutcome
    from harness.results.run_record import RunRecord
    from harness.settings import Settings


@dataclass(frozen=True)
class Option:
    """One choice, as a flag, an ini key and an environment variable, in this order of precedence."""

    name: str
    default: str
    help: str

    @property
    def flag(self) -> str:
        """On pytest's command line."""
        return f"--harness-{self.name}"

    @property
    def ini(self) -> str:
        """In pytest's configuration file."""
        return f"harness_{self.name.replace('-', '_')}"

    @property
    def variable(self) -> str:
        """In the environment."""
        return self.ini.upper()


OPTIONS = (
    Option("board", "sim", "board name or board file"),
    Option("executable", "", "the board's program, or its folder, in place of the one that is found"),
    Option("macs", "", "Ethos-U85 MACs per cycle (default: the board's)"),
    Option("modes", "all", "lifetime modes to compare"),
    Option("system-config", "", "Vela system configuration"),
    Option("memory-mode", "", "Vela memory mode"),
    Option("vela-config", "", "Vela configuration file"),
    Option("toolchain", "zig", "C compiler: zig, aarch64-none-elf-gcc or aarch64-linux-gnu-gcc"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare every option as a flag and an ini key."""
    group = parser.getgroup("harness", "Corstone harness")
    for option in OPTIONS:
        text = f"{option.help} (environment: {option.variable})"
        group.addoption(option.flag, default=None, help=text)
        parser.addini(option.ini, text, default="")


def _chosen(config: pytest.Config, option: Option) -> str:
    flag: str | None = config.getoption(option.flag)
    return flag or str(config.getini(option.ini)) or os.environ.get(option.variable, "") or option.default


def _number(text: str) -> int:
    if not text.isdecimal():
        from harness.errors import UsageError

        raise UsageError(f"--harness-macs takes a number, not {text!r}")
    return int(text)


@pytest.fixture(scope="session")
def harness_settings(pytestconfig: pytest.Config) -> Settings:
    """The options of this test session, resolved."""
    from harness.boards.found import look_for_program
    from harness.errors import HarnessError
    from harness.settings import resolve_settings

    given = {option.name.replace("-", "_"): _chosen(pytestconfig, option) for option in OPTIONS}
    chosen: dict[str, Any] = {name: text for name, text in given.items() if text}
    try:
        if "macs" in chosen:
            chosen["macs"] = _number(chosen["macs"])
        chosen |= {name: Path(chosen[name]) for name in ("executable", "vela_config") if name in chosen}
        settings = resolve_settings(**chosen, npu_checks=True)
    except HarnessError as error:
        pytest.fail(f"{error}" + (f"\nhint: {error.hint}" if error.hint else ""), pytrace=False)
    program = look_for_program(settings.board)
    if program.state == "missing":
        pytest.skip(f"board {settings.board.name}: {program.detail}")
    return settings


@pytest.fixture(scope="session")
def harness_board(harness_settings: Settings) -> Board:
    """The board of this test session, with its MAC count."""
    return harness_settings.board_with(harness_settings.macs)


@pytest.fixture(scope="session")
def harness_compare(harness_settings: Settings) -> Callable[..., ModelOutcome]:
    """A function that compares a model, by name or path, across lifetime modes.

    `harness_compare(model, modes="all")` returns a ModelOutcome: `.identical`, `.findings`,
    `.cpu_saved_percent`. An error that prevents the comparison is raised.
    """
    from harness.plan import parse_modes
    from harness.plugin.outcome import ModelOutcome

    def compare(model: str | Path, modes: str | None = None) -> ModelOutcome:
        from harness.pipeline import compare_model

        settings = harness_settings if modes is None else harness_settings.with_modes(parse_modes(modes))
        return ModelOutcome.of(compare_model(str(model), settings))

    return compare


@pytest.fixture(scope="session")
def harness_run(harness_settings: Settings) -> Callable[..., RunRecord]:
    """A function that runs a model in one mode on given inputs.

    `harness_run(model, inputs=None, mode="persistent")` returns the RunRecord; `inputs` is one array per
    network input, or None for the standard input A.
    """
    from harness.models.inputs import InputSet
    from harness.plan import parse_modes

    def run(model: str | Path, inputs: Sequence[Any] | None = None, mode: str = "persistent") -> RunRecord:
        from harness.examination import run_model
        from harness.models.catalog import load_model
        from harness.models.inputs import standard_inputs
        from harness.models.vela import compile_model

        source = load_model(str(model))
        compiled = compile_model(source, harness_settings.compile_options(source))
        chosen = (
            standard_inputs(compiled)[0]
            if inputs is None
            else InputSet("given", tuple(bytes(array.tobytes()) for array in inputs))
        )
        return run_model(compiled, (chosen,), (0,), harness_settings.with_modes(parse_modes(mode)))

    return run
