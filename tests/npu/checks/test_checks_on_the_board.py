"""The simulator checks the streams that the firmware gives to its NPU, with the firmware's own buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit, FirmwareTree
from harness.examination import run_model
from harness.models.catalog import load_model
from harness.models.inputs import standard_inputs
from harness.models.vela import compile_model
from harness.plan import PER_INFERENCE
from harness.results.finding import Finding
from harness.results.npu_checks import npu_check_findings, stream_checks
from harness.settings import resolve_settings


@pytest.fixture(scope="module")
def findings(board_name: str) -> Callable[..., list[Finding]]:
    """A function that runs a network with other base pointers and returns what the checks find."""
    settings = replace(
        resolve_settings(board=board_name, npu_checks=True).with_checks(), modes=(PER_INFERENCE,)
    )
    source = load_model("ds_cnn")
    compiled = compile_model(source, settings.compile_options(source))

    def run(base: str) -> list[Finding]:
        edit = Edit(
            "ethosu/ethosu_device.c", "NPU_BASEP(region), regions[region]", f"NPU_BASEP(region), {base}"
        )
        firmware = FirmwareTree(edits=(edit,))
        record = run_model(compiled, standard_inputs(compiled), (0,), replace(settings, firmware=firmware))
        said = stream_checks(record.noise)
        assert said.extents
        return list(npu_check_findings(said, record, 0))

    return run


def test_sound_firmware_has_no_finding(findings):
    assert findings("regions[region + 0U]") == []


@pytest.mark.parametrize(
    ("base", "kinds"),
    [
        ("regions[region == 4U ? 3U : region]", {"write-protected"}),
        ("regions[region] + (region == 3U ? 64U : 0U)", {"outside-region"}),
        ("regions[region] + (region == 1U ? 8U : 0U)", {"misaligned", "outside-region"}),
    ],
    ids=["outputs on the inputs", "inputs too high", "scratch misaligned"],
)
def test_base_pointers_that_are_wrong_are_found(findings, base, kinds):
    found = findings(base)
    assert {finding.check for finding in found} == {"npu-check"}
    assert {finding.detail.partition(":")[0] for finding in found} == kinds
