"""Running the checks of checks.c on the simulated platform, in the place of the runner's main()."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.build.firmware_tree import Edit, FirmwareTree
from harness.data_files import data_folder
from harness.plan import Plan, Program

CHECKS = Path(__file__).with_name("checks.c").read_text(encoding="utf-8")
CHECK_NAMES = tuple(re.findall(r"^    CHECK\((\w+)\),$", CHECKS, re.MULTILINE))


@dataclass(frozen=True)
class Outcomes:
    """What one run of all checks led to. After a check that ends in an exception none is begun."""

    lines: Mapping[str, int]  #: for each check that returned, the line that failed, or 0

    @property
    def ended_in(self) -> str | None:
        """The check that ended in an exception."""
        return next((name for name in CHECK_NAMES if name not in self.lines), None)

    def failure(self, check: str) -> str | None:
        """How a check failed; None when it holds, or when the run did not get that far."""
        if check == self.ended_in:
            return "ended in an exception"
        line = self.lines.get(check, 0)
        return f"checks.c:{line}: the expectation does not hold" if line else None


RunChecks = Callable[..., Outcomes]
WriteAllocator = Callable[..., Path]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "check" in metafunc.fixturenames:
        metafunc.parametrize("check", CHECK_NAMES)


@pytest.fixture(scope="session")
def run_checks(firmware) -> RunChecks:
    """Run all checks on the firmware, with these edits to it."""
    shipped = (data_folder("firmware") / "runner/main.c").read_text(encoding="utf-8")
    in_place_of_main = Edit("runner/main.c", shipped, CHECKS)
    nothing = Plan((), (), Program.CALIBRATE)

    def run(*edits: Edit) -> Outcomes:
        records = firmware.speak(nothing, in_place_of_main, *edits).of_type("check")
        return Outcomes({record.text("name"): record.number("line") for record in records})

    return run


@pytest.fixture(scope="session")
def write_allocator(tmp_path_factory) -> WriteAllocator:
    """Write the firmware's folder `memory`, with these edits to it, into a new folder, and return that."""

    def write(*edits: Edit) -> Path:
        folder = tmp_path_factory.mktemp("allocator")
        (folder / "memory").mkdir()
        for name, text in FirmwareTree(edits=edits).sources().items():
            if name.startswith("memory/"):
                (folder / name).write_text(text, encoding="utf-8")
        return folder

    return write


@pytest.fixture(scope="session")
def outcomes(run_checks: RunChecks) -> Outcomes:
    """What the checks say of the firmware as it is shipped."""
    return run_checks()
