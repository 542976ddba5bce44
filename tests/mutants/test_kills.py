"""Each check kills a mutant that is meant for it, and finds nothing without it.

All mutants are run by `harness mutants`, as continuous integration does; here it is one for each check.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import harness.results
from harness.cli.mutants import kill_table_row
from harness.mutants.catalogue import Mutant, Replacement, load_catalogue
from harness.mutants.kill import run_mutant, run_under
from harness.settings import Settings, resolve_settings

MUTANTS = {mutant.name: mutant for mutant in load_catalogue()}
FIRST_OF_CHECK = {mutant.killed_by: mutant.name for mutant in reversed(load_catalogue())}
"""For each check the first mutant that is meant for it."""
CONDITIONS = {MUTANTS[name].conditions.model_dump_json(): name for name in sorted(FIRST_OF_CHECK.values())}
"""The conditions of those, each once, with one mutant that is run under them."""

KILL_TABLE = Path(__file__).parents[2] / "docs" / "mutants.md"

UNKILLABLE_ALONE = frozenset[str]()


@pytest.fixture(scope="session")
def settings(board_name: str) -> Settings:
    return resolve_settings(board=board_name)


@pytest.fixture(scope="session")
def rows() -> tuple[str, ...]:
    lines = KILL_TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line.startswith("| `"))


@pytest.mark.parametrize("name", sorted(FIRST_OF_CHECK.values()))
def test_a_mutant_is_killed_as_the_table_says(name: str, settings: Settings, rows: tuple[str, ...]) -> None:
    kill = run_mutant(MUTANTS[name], settings)
    assert kill.killed, f"{name} survived {kill.mutant.killed_by}; caught by: {kill.caught_by}"
    assert kill_table_row(kill) in rows, "run `harness mutants --markdown` and put its table into docs/"


@pytest.mark.parametrize("name", sorted(CONDITIONS.values()))
def test_the_sound_firmware_passes_under_the_conditions_of_a_mutant(name: str, settings: Settings) -> None:
    assert run_under(MUTANTS[name], settings) == ()


def test_a_mutant_that_changes_nothing_survives(settings: Settings) -> None:
    harmless = Mutant(
        name="harmless",
        defect="None.",
        killed_by="status",
        edit=(Replacement(file="runner/cell.c", old="#define POISON 0xa5", new="#define POISON 165"),),
    )
    kill = run_mutant(harmless, settings)
    assert (kill.killed, kill.caught_by) == (False, ())


def test_the_table_has_the_mutants_of_the_catalogue_in_its_order(rows: tuple[str, ...]) -> None:
    known = [f"| `{mutant.name}` | {mutant.defect} | `{mutant.killed_by}` |" for mutant in MUTANTS.values()]
    assert [row[: len(start)] for row, start in zip(rows, known, strict=True)] == known


def test_every_check_has_a_mutant_that_only_it_kills(rows: tuple[str, ...]) -> None:
    cells = [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]
    alone = {killed_by for _, _, killed_by, others in cells if not others}
    assert checks_of_the_harness() - alone == UNKILLABLE_ALONE


def checks_of_the_harness() -> set[str]:
    """The first argument of every Finding that the harness makes."""
    sources = sorted(Path(harness.results.__path__[0]).glob("*.py"))
    calls = (
        node
        for source in sources
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding"
    )
    return {first.value for call in calls if isinstance(first := call.args[0], ast.Constant)}
