"""Fixtures for networks that keep state: compiled, run on the board, and what tflite-micro says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit, FirmwareTree
from harness.examination import SEQUENCE, Prepared, prepare_histories, reference_for, run_plan
from harness.models.catalog import ModelSource
from harness.models.compiled import CompiledModel
from harness.models.history import histories
from harness.models.inputs import standard_inputs
from harness.models.oracle import installed_version
from harness.models.vela import compile_model
from harness.plan import Plan
from harness.results.assembly import assemble
from harness.results.run_record import RunRecord
from harness.settings import Settings, resolve_settings

from .networks import accumulator, lstm

NETWORKS = {
    "lstm": lstm(),
    "lstm of two": lstm(batch=2),
    "time-major lstm": lstm(batch=2, time_major=True),
    "accumulator": accumulator(),
    "wide accumulator": accumulator("int16", (0, 0)),
}


@pytest.fixture(scope="session", autouse=True)
def tflite_micro() -> None:
    """Skip all tests here where there is no tflite-micro to tell what is right."""
    if installed_version() is None:
        pytest.skip("tflite-micro is not installed")


@pytest.fixture(scope="session")
def settings(board_name: str) -> Settings:
    return resolve_settings(board=board_name, modes="all")


@pytest.fixture(scope="session")
def networks() -> dict[str, ModelSource]:
    return NETWORKS


@pytest.fixture(scope="session", params=NETWORKS)
def network(request: pytest.FixtureRequest) -> CompiledModel:
    """Each of the networks, compiled."""
    return compile_model(NETWORKS[request.param])


@pytest.fixture(scope="session")
def recurrent() -> CompiledModel:
    return compile_model(NETWORKS["lstm"])


@pytest.fixture(scope="session")
def adding() -> CompiledModel:
    return compile_model(NETWORKS["accumulator"])


@pytest.fixture(scope="session")
def prepared() -> Callable[[CompiledModel, bool], Prepared]:
    """A function that asks the oracle for what a network gives for A, B, A, its state kept or not."""

    def prepare(compiled: CompiledModel, keep_state: bool) -> Prepared:
        inputs = standard_inputs(compiled)
        if keep_state:
            return prepare_histories(compiled, histories(inputs, SEQUENCE, len(SEQUENCE)))
        return Prepared(compiled, inputs, reference_for(compiled, inputs))

    return prepare


@pytest.fixture(scope="session")
def run(settings: Settings) -> Callable[..., RunRecord]:
    """A function that runs a plan, with edits to the firmware."""

    def carry_out(plan: Plan, *edits: Edit) -> RunRecord:
        return assemble(run_plan(plan, replace(settings, firmware=FirmwareTree(edits=edits))), plan)

    return carry_out
