"""An invented board that has everything elsewhere: no address stands anywhere but in a board's file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import BoardError, ConsoleError, FirmwareFault
from harness.examination import run_model
from harness.models.catalog import load_model
from harness.models.inputs import standard_inputs
from harness.models.vela import compile_model
from harness.pipeline import compare_models
from harness.settings import Settings, resolve_settings

MOVED = Path(__file__).with_name("moved.toml")


@pytest.fixture(scope="module")
def settings() -> Settings:
    return resolve_settings(board=str(MOVED), modes="driver")


def test_a_comparison_passes_on_it(settings):
    report = compare_models(["ds_cnn"], settings)
    assert (report.verdict, report.board) == ("pass", "moved")


@pytest.mark.parametrize("device", ["uart0", "ethosu", "dram"])
def test_a_device_that_lies_where_the_file_does_not_say_is_caught(settings, device):
    elsewhere = replace(settings, parameters={f"host.memory.{device}_base": 0x2000_0000})
    source = load_model("ds_cnn")
    compiled = compile_model(source, settings.compile_options(source))
    with pytest.raises((BoardError, ConsoleError, FirmwareFault)):
        run_model(compiled, standard_inputs(compiled), (0,), elsewhere)
