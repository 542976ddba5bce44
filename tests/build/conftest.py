"""A plan that can be built, though its model means nothing to an NPU."""

from __future__ import annotations

import pytest

from harness.models.compiled import Bytes, CompiledModel, Tensor
from harness.models.inputs import InputSet
from harness.plan import DRIVER_MODES, Plan, PlannedModel, plan_comparison


@pytest.fixture
def plan() -> Plan:
    model = CompiledModel(
        name="two */ inputs",
        source_sha256="",
        macs=256,
        command_stream=bytes(range(100)),
        weights=b"weights!" * 10,
        scratch_size=Bytes(48),
        scratch_fast_size=Bytes(0),
        inputs=(
            Tensor("left", (5,), "int8", 3, Bytes(0), Bytes(5)),
            Tensor("right", (3,), "int8", 3, Bytes(16), Bytes(3)),
        ),
        outputs=(Tensor("sum", (7,), "int8", 4, Bytes(0), Bytes(7)),),
        vela_version="",
        vela_options=(),
        tflite=None,
    )
    inputs = (InputSet("A", (b"12345", b"678")), InputSet("B", (b"abcde", b"fgh")))
    return plan_comparison(PlannedModel(model, inputs), DRIVER_MODES, (0, 1, 0))


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"
