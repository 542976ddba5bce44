"""A board of three consoles, a stand-in for the FVP, and an image to run on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness.boards.board import Board
from harness.boards.config import BoardConfig, Landmark, Terminal, load_board
from harness.build.image import build_image
from harness.build.toolchain import find_toolchain
from harness.console.protocol import parse_console
from harness.models.catalog import load_model
from harness.models.inputs import standard_inputs
from harness.models.vela import compile_model
from harness.plan import DRIVER_MODES, Plan, PlannedModel, plan_comparison
from harness.results.assembly import assemble
from harness.results.run_record import RunRecord
from harness.testing import MockFvp, Symptom


@pytest.fixture
def board() -> BoardConfig:
    """The simulator's memory map with the consoles of a Corstone-1000, and short deadlines."""
    sim = load_board("sim")
    return sim.model_copy(
        update={
            "records": "normal",
            "consoles": {
                "normal": Terminal(terminal="host.host_terminal_0"),
                "secure": Terminal(terminal="host.host_terminal_1"),
                "enclave": Terminal(terminal="se.secenc_terminal"),
            },
            "deaths": (r"\[ERR\]", "Kernel panic"),
            "harmless": ("error -22",),
            "landmarks": (Landmark(console="normal", text="U-Boot [0-9]", phase="U-Boot"),),
            "timeouts": sim.timeouts.model_copy(update={"start_seconds": 5, "stop_seconds": 0.3}),
        }
    )


@dataclass(frozen=True)
class Image:
    """A built image, stamped with the nonce of its plan."""

    elf: Path
    build: str


@pytest.fixture(scope="session")
def plan_and_image(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Image]:
    """A network in two modes, as an image of the FVP's board."""
    compiled = compile_model(load_model("ds_cnn"))
    planned = PlannedModel(compiled, standard_inputs(compiled))
    plan = plan_comparison(planned, DRIVER_MODES, (0, 1, 0)).with_fresh_nonce()
    built = build_image(plan, load_board("corstone-1000-a320"), find_toolchain())
    elf = built.stamped(plan.nonce, tmp_path_factory.mktemp("image") / "image.elf")
    return plan, Image(elf, built.build)


def without_time(run: RunRecord) -> RunRecord:
    """A run without what depends on when in a tick of the timer its jobs start."""
    cells = (
        replace(cell, inferences=tuple(replace(one, elapsed_ns=0) for one in cell.inferences))
        for cell in run.cells
    )
    return replace(run, cells=tuple(cells), noise=())


@pytest.fixture(scope="session")
def timeless() -> Callable[[RunRecord], RunRecord]:
    return without_time


@pytest.fixture(scope="session")
def sound(plan_and_image: tuple[Plan, Image]) -> RunRecord:
    """What the built-in simulator makes of the image."""
    plan, image = plan_and_image
    run = Board(load_board("sim"), 256).run(image.elf)
    return without_time(assemble(parse_console(run.console, plan.nonce, image.build), plan))


@pytest.fixture
def fvp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Board]:
    """A function that installs a stand-in with symptoms, and returns the FVP's board with short deadlines."""
    images = tmp_path / "images"
    (images / "trusted-firmware-m").mkdir(parents=True)
    (images / "trusted-firmware-m" / "bl1.bin").write_bytes(bytes(64))
    (images / "corstone1000-flash-firmware-image-corstone1000-a320-fvp.wic").write_bytes(bytes(4096))
    monkeypatch.setenv("CORSTONE_1000_IMAGES", str(images))

    def install(*symptoms: Symptom, deadlines: Mapping[str, float] = {}, **choices: Any) -> Board:
        mock = MockFvp(tmp_path / "fvp", *symptoms, **choices)
        monkeypatch.setenv("FVP_CORSTONE1000", str(mock.executable))
        config = load_board("corstone-1000-a320")
        # Long ones for a busy machine, but where a test waits for one.
        patient = {"start_seconds": 60, "boot_seconds": 60, "run_seconds": 60, "stop_seconds": 0.5}
        timeouts = config.timeouts.model_copy(update={**patient, **deadlines})
        return Board(config.model_copy(update={"timeouts": timeouts}), 256)

    return install


@pytest.fixture
def run_on(fvp: Callable[..., Board], plan_and_image: tuple[Plan, Image]) -> Callable[..., RunRecord]:
    """A function that runs the image on a stand-in with symptoms; its result is without times."""

    def run(*symptoms: Symptom, **choices: Any) -> RunRecord:
        plan, image = plan_and_image
        ran = fvp(*symptoms, **choices).run(image.elf)
        return without_time(assemble(parse_console(ran.console, plan.nonce, image.build), plan))

    return run
