"""Planned faults and the coherency checker on real networks, run by the firmware."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.boards.config import load_board
from harness.build.firmware_tree import Edit, FirmwareTree
from harness.build.image import build_image
from harness.models.catalog import load_model
from harness.models.inputs import standard_inputs
from harness.models.vela import compile_model
from harness.plan import PER_INFERENCE, PERSISTENT, Mode, PlannedModel, parse_modes, plan_comparison
from harness.settings import resolve_settings

TIMEOUT_MS = 100
DRIVER_MEMORY = "ethosu/ethosu_memory.c"

Console = Callable[..., str]


@pytest.fixture(scope="session")
def console(board_name: str) -> Console:
    """Run a reference network on the inputs A, B, A, and return all that the board said."""
    settings = resolve_settings(board=board_name)

    def run(
        name: str,
        modes: tuple[Mode, ...] = (PER_INFERENCE,),
        edits: tuple[Edit, ...] = (),
        **parameters: object,
    ) -> str:
        source = load_model(name)
        compiled = compile_model(source, settings.compile_options(source))
        planned = PlannedModel(compiled, standard_inputs(compiled))
        plan = replace(plan_comparison(planned, modes, (0, 1, 0)), inference_timeout_ms=TIMEOUT_MS)
        image = build_image(plan, settings.board, settings.toolchain, FirmwareTree(edits=edits))
        named = {f"host.{name.replace('__', '.')}": value for name, value in parameters.items()}
        return (
            replace(settings, parameters=named)
            .board_with(compiled.macs)
            .run(image.elf)
            .console.decode("ascii")
        )

    return run


def findings(console: str) -> list[str]:
    """Return the kinds of the coherency checker's findings."""
    return re.findall(r"harness-sim: coherency (\S+)", console)


@pytest.mark.parametrize(
    ("network", "modes"),
    [
        ("ds_cnn", parse_modes("all")),
        ("resnet8", (PER_INFERENCE, PERSISTENT)),
        ("mobilenet_v1_025", (PER_INFERENCE, PERSISTENT)),
        ("deep_autoencoder", (PER_INFERENCE, PERSISTENT)),
    ],
)
def test_the_firmware_misses_no_cache_maintenance(console, network, modes):
    said = console(network, modes=modes, cache_check=1, memory__fill=0xA5)
    assert "bye status=ok" in said
    assert findings(said) == []


@pytest.mark.parametrize(
    ("dropped", "kind"),
    [
        ("device->counts.cleaned += cache_clean(to, size);", "npu-read-dirty"),
        ("device->counts.invalidated += cache_invalidate(from, size);", "cpu-read-stale"),
        ("device->counts.cleaned += cache_clean((const void *)address, size);", "npu-write-dirty"),
    ],
    ids=["clean-after-write", "invalidate-before-read", "clean-after-zeroing"],
)
def test_cache_maintenance_that_the_firmware_drops_is_named(console, dropped, kind):
    edit = Edit(DRIVER_MEMORY, dropped, "(void)device;")
    assert set(findings(console("ds_cnn", edits=(edit,), cache_check=1))) == {kind}


@pytest.mark.parametrize(
    ("fault", "delay_ms", "status"),
    [
        ("status-error", 0, "npu-fault"),
        ("bus-error", 0, "npu-fault"),
        ("hang", 0, "timeout"),
        ("late", TIMEOUT_MS // 2, "ok"),
        ("late", TIMEOUT_MS + 1, "timeout"),
        ("early", 0, "ok"),
        ("lost-completion", 0, "timeout"),
    ],
)
def test_a_fault_of_the_npu_concerns_its_own_inference_alone(console, fault, delay_ms, status):
    plan = {"fault": fault, "fault_job": 1, "fault_delay_us": 1000 * delay_ms}
    said = console("ds_cnn", **{f"ethosu__{name}": value for name, value in plan.items()})
    assert re.findall(r" infer .* status=(\S+)", said) == ["ok", status, "ok"]
    assert f"harness-sim: npu-fault kind={fault} job=1 happened=yes" in said


def test_an_exception_in_the_middle_of_a_record_is_reported(console, board_name):
    said = console("ds_cnn", uart0__fault_after=500)
    uart = load_board(board_name).uart.base
    assert re.search(rf"fault .*kind=exception .*far={uart:x}", said)
    assert "bye status=fault" in said
