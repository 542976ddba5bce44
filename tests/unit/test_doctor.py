"""The doctor says for each part what is found, what is missing or of another version, and what mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import doctor
from harness.doctor import Diagnosis, diagnose
from harness.testing import MockFvp, Symptom

FVP = "board corstone-1000-a320"


@pytest.fixture
def fvp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that installs a stand-in and returns what the doctor says of its board."""

    def diagnosis(*symptoms: Symptom, **choices: str) -> Diagnosis:
        mock = MockFvp(tmp_path / "fvp", *symptoms, **choices)
        monkeypatch.setenv("FVP_CORSTONE1000", str(mock.executable))
        return part(FVP)

    return diagnosis


def part(name: str) -> Diagnosis:
    return next(each for each in diagnose() if each.part == name)


def test_the_boards_of_the_main_job_are_found():
    assert (part("board sim").state, part("board sim").needed) == ("found", True)


def test_an_fvp_is_found_with_its_version(fvp):
    found = fvp()
    assert (found.state, found.needed) == ("found", False)
    assert found.detail.endswith("FVP_Corstone-1000-A320 11.30.27")


def test_an_fvp_that_is_missing_is_not_needed(monkeypatch):
    monkeypatch.setenv("FVP_CORSTONE1000", "/nowhere")
    found = part(FVP)
    assert (found.state, found.needed) == ("missing", False)
    assert "FVP_CORSTONE1000=/nowhere: does not exist" in found.detail
    assert found.remedy == "set FVP_CORSTONE1000 to it, or to its folder"


def test_an_fvp_that_is_too_old_is_said_to_be(fvp):
    found = fvp(version="11.16.14 (Sep 29 2021)")
    assert (found.state, found.needed) == ("wrong version", False)
    assert "older than 11.27.31" in found.detail


def test_an_fvp_that_does_not_start_is_said_with_what_mends_it(fvp):
    found = fvp(Symptom.E549)
    assert (found.state, found.needed) == ("wrong version", False)
    assert "E549" in found.detail
    assert "execstack" in found.remedy


@pytest.mark.parametrize(
    ("version", "state"), [(None, "missing"), ("4.5.0", "wrong version"), ("5.2.0", "found")]
)
def test_the_compiler_is_held_against_the_versions_that_were_tested(monkeypatch, version, state):
    monkeypatch.setattr(doctor, "package_version", lambda _name: version)
    assert part("Vela").state == state


def test_a_checkout_of_the_core_driver_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv(doctor.CORE_DRIVER_VARIABLE, str(tmp_path))
    assert part("core driver").detail.endswith(f"{tmp_path} is no checkout of it")
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "ethosu_driver.h").touch()
    assert part("core driver").state == "found"
