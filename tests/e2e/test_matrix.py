"""All lifetime axes together: eight modes, several models at once, many inferences, somebody's own driver."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from harness.data_files import data_folder
from harness.errors import UsageError
from harness.examination import SEQUENCE, prepare, run_plan
from harness.models.catalog import load_model
from harness.models.tflite_writer import GraphSpec, OperatorSpec, TensorSpec, write_tflite
from harness.pipeline import compare_models
from harness.plan import ALL_MODES, PER_INFERENCE, PERSISTENT, Load, Scratch, Zeroing, plan_comparison
from harness.results.assembly import assemble
from harness.results.equivalence import compare
from harness.results.report import Report
from harness.settings import Settings, parse_implementations, resolve_settings

MANY = 1000


@pytest.fixture(scope="module")
def settings(board_name: str) -> Settings:
    return resolve_settings(board=board_name)


def assert_passed(report: Report) -> None:
    assert report.verdict == "pass", [
        str(finding) for model in report.models if model.comparison for finding in model.comparison.findings
    ] + [str(model.error) for model in report.models]


def test_three_models_run_in_turn_in_one_image(settings: Settings) -> None:
    names = ["ds_cnn", "resnet8", "deep_autoencoder"]
    report = compare_models(names, settings, together=True)
    assert_passed(report)
    runs = [model.run for model in report.models]
    assert all(run is not None for run in runs)
    assert len({run.build for run in runs if run is not None}) == 1
    first_cell = [run.cells[0] for run in runs if run is not None]
    assert [cell.inferences[0].input for cell in first_cell] == ["A", "B", "A"]


@pytest.fixture
def addition(tmp_path: Path) -> str:
    """The file of a network that the NPU runs in no time."""
    tensors = tuple(
        TensorSpec(name, (1, 8), "int8", (Fraction(1, 16),), 3) for name in ("left", "right", "sum")
    )
    operator = OperatorSpec("ADD", (0, 1), (2,), {"FusedActivationFunction": 0})
    path = tmp_path / "addition.tflite"
    path.write_bytes(write_tflite(GraphSpec("addition", tensors, (operator,), inputs=(0, 1), outputs=(2,))))
    return str(path)


def test_a_thousand_inferences_hold_no_more_memory_than_two(settings: Settings, addition: str) -> None:
    model = prepare(load_model(addition), settings)
    plan = plan_comparison(model.planned, (PERSISTENT,), SEQUENCE, inferences=MANY)
    run = assemble(run_plan(plan, settings), plan)
    assert compare(run, model.reference, settings.board.npu.clock_hz).passed
    (cell,) = run.cells
    assert len(cell.inferences) == MANY
    assert len({inference.stage.memory for inference in cell.inferences[1:]}) == 1
    assert len({inference.stage.cost for inference in cell.inferences[1:]}) == 1


def test_the_pool_ends_at_the_number_of_models_that_the_report_gives(settings: Settings) -> None:
    memory = settings.board.memory.model_copy(update={"dma_pool_size": 0x40000})
    board = settings.board.model_copy(update={"memory": memory})
    small = replace(settings, board=board, modes=(PER_INFERENCE, PERSISTENT))
    one = compare_models(["ds_cnn"], small).models[0]
    most = one.persistence[-1].most_loaded
    assert most is not None
    assert 1 < most < 10
    assert_passed(compare_models(["ds_cnn"], replace(small, load=Load(copies=most))))
    beyond = compare_models(["ds_cnn"], replace(small, load=Load(copies=most + 1)))
    assert beyond.verdict == "error"
    assert beyond.models[0].comparison is not None
    assert "status" in {finding.check for finding in beyond.models[0].comparison.findings}


@pytest.mark.parametrize(
    "load", [Load(scratch=Scratch.TEMP), Load(zeroing=Zeroing.NONE)], ids=["temp", "stale"]
)
def test_the_modes_agree_wherever_scratch_lies_and_whatever_it_holds(load: Load, settings: Settings) -> None:
    assert_passed(compare_models(["ds_cnn"], replace(settings, load=load)))


@pytest.fixture
def two_drivers(tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of our driver."""
    folders = tmp_path / "before", tmp_path / "after"
    for folder in folders:
        shutil.copytree(data_folder("firmware") / "ethosu", folder)
    return folders


def compare_drivers(before: Path, after: Path, settings: Settings) -> Report:
    both = parse_implementations([f"before={before}", f"after={after}"])
    return compare_models(["ds_cnn"], replace(settings, implementations=both))


def test_two_copies_of_a_driver_are_the_same(two_drivers: tuple[Path, Path], settings: Settings) -> None:
    report = compare_drivers(*two_drivers, settings)
    assert_passed(report)
    changes = report.models[0].implementations
    assert [change.mode for change in changes] == list(ALL_MODES)
    assert all(change.before_instructions == change.after_instructions for change in changes)
    assert not any(change.counts for change in changes)


def test_a_copy_with_one_defect_is_told_apart(two_drivers: tuple[Path, Path], settings: Settings) -> None:
    device = two_drivers[1] / "ethosu_device.c"
    text = device.read_text()
    assert text.count("PMCR_COUNT_ENABLE | PMCR_CYCLE_RESET") == 1
    device.write_text(text.replace("PMCR_COUNT_ENABLE | PMCR_CYCLE_RESET", "PMCR_COUNT_ENABLE"))
    report = compare_drivers(*two_drivers, settings)
    assert report.verdict == "fail"
    assert report.models[0].comparison is not None
    found = {(finding.check, finding.implementation) for finding in report.models[0].comparison.findings}
    assert ("implementation-cycles", "after") in found
    assert {implementation for _, implementation in found} == {"after"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("before", "not of the form NAME=DIR"),
        ("before=no/such/folder", "does not exist"),
    ],
)
def test_a_wrong_implementation_is_named(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_implementations([text])
