"""The main job: one verdict on real networks, at every MAC count, with numbers that mean something."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.build.firmware_tree import Edit, FirmwareTree
from harness.examination import SEQUENCE, measure_prices, run_model
from harness.models.catalog import REFERENCE_NETWORKS, load_model
from harness.models.compiled import MAC_COUNTS
from harness.models.inputs import standard_inputs
from harness.models.vela import compile_model, installed_compiler
from harness.pipeline import compare_model
from harness.plan import DRIVER_MODES, DRIVER_PERSISTENT
from harness.results.cost import explain
from harness.results.run_record import PHASES, CellRecord, RunRecord
from harness.settings import Settings, resolve_settings

MLPERF_TINY = (
    "ad01_int8.tflite",
    "kws_ref_model.tflite",
    "pretrainedResnet_quant.tflite",
    "vww_96_int8.tflite",
)
EXTRA_COPY_BYTES = 65536


def compare_to_json(path: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "harness.cli", "compare", "--json", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(path.read_text())
    return report


def assert_proven(report: dict[str, Any], models: int) -> None:
    assert report["verdict"] == "pass"
    assert len(report["models"]) == models
    for model in report["models"]:
        comparison = model["comparison"]
        assert comparison["outputs_identical"] is True
        assert comparison["npu_cycles_identical"] is True
        assert comparison["reference"]["equal"] is True, comparison["reference"]
        assert comparison["cpu_saved_percent"] >= 50
        assert abs(comparison["explained"]["residual_percent"]) <= 2


def modes_at(macs: int) -> str:
    """All eight modes at the two smaller MAC counts, those of the driver axis at the others."""
    return "all" if macs <= 256 else "driver"


@pytest.mark.parametrize("macs", MAC_COUNTS)
def test_the_reference_networks_are_proven_equal(macs: int, tmp_path: Path) -> None:
    report = compare_to_json(tmp_path / "r.json", "--macs", str(macs), "--modes", modes_at(macs))
    assert report["npu"]["macs"] == macs
    assert_proven(report, len(REFERENCE_NETWORKS))


@pytest.mark.parametrize("macs", MAC_COUNTS)
def test_the_mlperf_tiny_networks_are_proven_equal(macs: int, tmp_path: Path, real_models: Path) -> None:
    files = [str(real_models / "mlperf_tiny" / name) for name in MLPERF_TINY]
    arguments = ("--macs", str(macs), "--modes", modes_at(macs), *files)
    assert_proven(compare_to_json(tmp_path / "r.json", *arguments), len(files))


def test_two_runs_write_the_same_json(tmp_path: Path) -> None:
    compare_to_json(tmp_path / "1.json", "--modes", "driver")
    compare_to_json(tmp_path / "2.json", "--modes", "driver")
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


@pytest.fixture(scope="module")
def settings(board_name: str) -> Settings:
    return resolve_settings(board=board_name, modes="driver")


def run_ds_cnn(settings: Settings) -> RunRecord:
    source = load_model("ds_cnn")
    compiled = compile_model(source, settings.compile_options(source))
    return run_model(compiled, standard_inputs(compiled), SEQUENCE, settings)


def timeless(cell: CellRecord) -> CellRecord:
    """A cell without its place in the plan and its elapsed times: when in a tick a job starts is no cost."""
    inferences = tuple(replace(inference, elapsed_ns=0) for inference in cell.inferences)
    return replace(cell, inferences=inferences, cell=0)


def test_the_same_mode_against_itself_differs_by_exactly_nothing(settings: Settings) -> None:
    run = run_ds_cnn(settings.with_modes([*DRIVER_MODES, *DRIVER_MODES]))
    first, second, third, fourth = (timeless(cell) for cell in run.cells)
    assert first == third
    assert second == fourth


def test_a_mode_costs_the_same_in_another_image(settings: Settings) -> None:
    both = run_ds_cnn(settings)
    alone = run_ds_cnn(settings.with_modes([DRIVER_PERSISTENT]))
    assert timeless(alone.cells[0]) == timeless(both.cells[1])


def test_one_extra_copy_shows_that_copy_and_nothing_else(settings: Settings) -> None:
    copy = Edit(
        "runner/steps.c",
        "enum ethosu_error step_submit(struct execution *execution)\n{",
        '#include "platform/bytes.h"\n'
        f"static uint8_t extra[2][{EXTRA_COPY_BYTES}] __attribute__((aligned(64)));\n"
        "enum ethosu_error step_submit(struct execution *execution)\n{\n"
        "    memcpy(extra[0], extra[1], sizeof extra[0]);",
    )
    price = measure_prices(settings).instructions["copied"]
    plain = run_ds_cnn(settings)
    patched = run_ds_cnn(replace(settings, firmware=FirmwareTree(edits=(copy,))))
    for before, after in zip(plain.cells, patched.cells, strict=True):
        assert before.init == after.init
        for one, other in zip(before.inferences, after.inferences, strict=True):
            more = {phase: other.stage.phases[phase] - one.stage.phases[phase] for phase in PHASES}
            # A call and its loop's entry come on top of the price of the bytes.
            assert more.pop("submit") == pytest.approx(price * EXTRA_COPY_BYTES, abs=40)
            assert set(more.values()) == {0}
            assert one.npu_cycles == other.npu_cycles


def test_a_cost_that_no_count_accounts_for_is_a_residual(settings: Settings) -> None:
    """The explanation can fail: work that the driver does not count stays unexplained."""
    prices = measure_prices(settings)
    loop = Edit(
        "ethosu/ethosu_network.c",
        "ethosu_network_destroy(struct ethosu_network *network)\n{",
        "ethosu_network_destroy(struct ethosu_network *network)\n{\n"
        '    for (int i = 0; i < 2000; i++) {\n        __asm__ volatile("nop");\n    }\n',
    )
    patched = replace(settings, firmware=FirmwareTree(edits=(loop,)))
    before, after = run_ds_cnn(patched).cells
    explanation = explain(before, after, prices)
    assert explanation is not None
    assert explanation.residual_percent > 5


def test_an_error_of_one_model_leaves_the_others_their_verdict(tmp_path: Path, real_models: Path) -> None:
    float_model = real_models / "tflite_micro" / "hello_world_float.tflite"
    command = [sys.executable, "-m", "harness.cli", "compare", "ds_cnn", str(float_model)]
    done = subprocess.run(
        [*command, "--json", str(tmp_path / "r.json")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    verdicts = [model["verdict"] for model in json.loads((tmp_path / "r.json").read_text())["models"]]
    assert verdicts == ["pass", "error"]


def test_a_model_compiled_beforehand_runs_as_it_is(tmp_path: Path, settings: Settings) -> None:
    source = load_model("ds_cnn")
    (tmp_path / "model.tflite").write_bytes(source.data)
    vela = [*installed_compiler().command, "--accelerator-config", "ethos-u85-512"]
    direct_drive = ["--cop-format", "COP2", "--separate-io-regions", "--output-format", "raw"]
    subprocess.run(
        [*vela, *direct_drive, "--output-dir", str(tmp_path), str(tmp_path / "model.tflite")],
        check=True,
        capture_output=True,
    )
    report = compare_model(str(tmp_path / "model_vela.npz"), settings)
    assert report.verdict == "pass", report
    assert report.compiled is not None
    assert report.compiled.macs == 512
    assert report.comparison is not None
    assert report.comparison.reference_equal is None
