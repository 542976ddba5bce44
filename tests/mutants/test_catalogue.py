"""The catalogue of mutants holds together, and what does not fit it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.build.firmware_tree import FirmwareTree
from harness.cli.command_line import run_command_line
from harness.errors import ExitCode, UsageError
from harness.mutants import kill
from harness.mutants.catalogue import Mutant, choose, load_catalogue
from harness.mutants.kill import Kill

MUTANTS = load_catalogue()
LEAST_MUTANTS = 36
ENTRY = """
[[mutant]]
name = "one"
defect = "It is wrong."
killed_by = "status"
[[mutant.edit]]
file = "runner/cell.c"
old = "POISON 0xa5"
new = "POISON 0xa6"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "catalogue.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_there_are_enough_mutants() -> None:
    assert len(MUTANTS) >= LEAST_MUTANTS


def test_every_edit_fits_the_firmware() -> None:
    for mutant in MUTANTS:
        assert FirmwareTree(edits=mutant.firmware_edits).sources()


def test_an_edit_that_no_longer_fits_is_an_error_that_quotes_it(tmp_path: Path) -> None:
    (mutant,) = load_catalogue(write(tmp_path, ENTRY.replace("0xa5", "0x5a")))
    with pytest.raises(UsageError, match=r"runner/cell.c: .* occurs 0 times, not once: 'POISON 0x5a'"):
        FirmwareTree(edits=mutant.firmware_edits).sources()


def test_a_name_that_is_used_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="names one more than once"):
        load_catalogue(write(tmp_path, ENTRY + ENTRY))


def test_a_key_that_is_unknown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="kiled_by"):
        load_catalogue(write(tmp_path, ENTRY.replace("killed_by", "kiled_by")))


def test_a_step_that_cannot_fail_is_refused(tmp_path: Path) -> None:
    failing = ENTRY.replace(
        "[[mutant.edit]]", 'failures = [{stage = "init", step = "wait"}]\n[[mutant.edit]]'
    )
    with pytest.raises(UsageError, match="init has no step 'wait'"):
        load_catalogue(write(tmp_path, failing))


def test_an_unknown_mutant_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown mutant 'no-such'"):
        choose(("no-such",), MUTANTS)


def test_the_list_names_every_mutant_and_its_defect(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["mutants", "--list"]) == ExitCode.OK
    assert capsys.readouterr().out.splitlines() == [f"{each.name}: {each.defect}" for each in MUTANTS]


@pytest.mark.parametrize(
    ("caught_by", "code"),
    [(("status",), ExitCode.OK), (("leak", "status"), ExitCode.OK), (("leak",), ExitCode.FAILED), ((), 1)],
)
def test_a_mutant_that_another_check_alone_objects_to_has_survived(
    caught_by: tuple[str, ...],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(kill, "run_mutant", lambda mutant, _settings: Kill(mutant, caught_by))
    mutant: Mutant = next(each for each in MUTANTS if each.killed_by == "status")
    assert run_command_line(["mutants", mutant.name, "--markdown"]) == code
    survived = f"survivors: {mutant.name}" in capsys.readouterr().out
    assert survived == (code != ExitCode.OK)
