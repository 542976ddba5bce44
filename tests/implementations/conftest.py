"""A network to run on drivers of somebody else's, and what the harness says of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.build.firmware_tree import Edit, FirmwareTree
from harness.data_files import data_folder
from harness.examination import SEQUENCE, reference_for, run_model
from harness.models.catalog import load_model
from harness.models.compiled import CompiledModel
from harness.models.inputs import standard_inputs
from harness.models.vela import compile_model
from harness.results.equivalence import Reference, compare
from harness.results.run_record import RunRecord
from harness.settings import Settings, resolve_settings

STAND_IN = Path(__file__).with_name("stand_in_core_driver")


@dataclass(frozen=True)
class Bench:
    """DS-CNN in both lifetimes of the driver's objects."""

    settings: Settings
    compiled: CompiledModel
    reference: Reference

    def run(self, implementation: Path | None, *edits: Edit, **changes: object) -> RunRecord:
        """Run it on an implementation, None being our own; `changes` are to the settings."""
        firmware = FirmwareTree(edits=edits, implementation=implementation)
        settings = replace(self.settings, firmware=firmware, **changes)
        return run_model(self.compiled, standard_inputs(self.compiled), SEQUENCE, settings)

    def checks(self, run: RunRecord) -> set[str]:
        """The names of the checks that a run does not pass."""
        clock_hz = self.settings.board.npu.clock_hz
        return {finding.check for finding in compare(run, self.reference, clock_hz).findings}


@pytest.fixture(scope="session")
def bench(board_name: str) -> Bench:
    settings = resolve_settings(board=board_name, modes="driver")
    source = load_model("ds_cnn")
    compiled = compile_model(source, settings.compile_options(source))
    return Bench(settings, compiled, reference_for(compiled, standard_inputs(compiled)))


@pytest.fixture(scope="session")
def ours(bench: Bench) -> RunRecord:
    """How our own driver runs."""
    return bench.run(None)


@pytest.fixture
def copy_of_ours(tmp_path: Path) -> Callable[..., Path]:
    """Copy our driver to a folder of a user's, with one text in one of its files replaced."""

    def copy(file: str = "", old: str = "", new: str = "") -> Path:
        folder = tmp_path / "mine"
        shutil.copytree(data_folder("firmware") / "ethosu", folder)
        if file:
            text = (folder / file).read_text()
            assert text.count(old) == 1
            (folder / file).write_text(text.replace(old, new))
        return folder

    return copy
