"""Fixtures for the proof: networks compiled, and placed in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.models.catalog import ModelKind, ModelSource
from harness.models.compiled import CompiledModel
from harness.models.vela import CompileOptions, compile_model


@pytest.fixture(scope="session")
def compiled(fast_compiler) -> Callable[[str, bytes, int], CompiledModel]:
    """A function that compiles a .tflite file for a MAC count."""

    def compile_for(name: str, tflite: bytes, macs: int) -> CompiledModel:
        source = ModelSource(name, tflite, ModelKind.TFLITE)
        return compile_model(source, CompileOptions(macs=macs), fast_compiler)

    return compile_for


@pytest.fixture
def placed(network) -> Callable[[str, bytes, int], Any]:
    """A function that compiles a .tflite file and places it in memory."""
    return lambda name, tflite, macs: network(ModelSource(name, tflite, ModelKind.TFLITE), macs)
