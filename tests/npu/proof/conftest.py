"""Fixtures for the proof: one Vela that forks, and networks compiled by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.models.catalog import ModelKind, ModelSource
from harness.models.compiled import CompiledModel
from harness.models.vela import CompileOptions, VelaCompiler, compile_model, installed_compiler

from .forking_vela import forking_vela


@pytest.fixture(scope="session")
def fast_compiler(tmp_path_factory) -> Iterator[VelaCompiler]:
    """Vela without its start-up time."""
    with forking_vela(tmp_path_factory.mktemp("vela")) as command:
        yield VelaCompiler(command, installed_compiler().version)


@pytest.fixture(scope="session")
def compiled(fast_compiler) -> Callable[[str, bytes, int], CompiledModel]:
    """A function that compiles a .tflite file for a MAC count."""

    def compile_for(name: str, tflite: bytes, macs: int) -> CompiledModel:
        source = ModelSource(name, tflite, ModelKind.TFLITE)
        return compile_model(source, CompileOptions(macs=macs), fast_compiler)

    return compile_for


@pytest.fixture
def placed(network, compiled) -> Callable[[str, bytes, int], Any]:
    """A function that compiles a .tflite file and places it in memory."""

    def place(name: str, tflite: bytes, macs: int) -> Any:
        compiled(name, tflite, macs)  # from here on it is in the cache, where `network` looks first
        return network(ModelSource(name, tflite, ModelKind.TFLITE), macs)

    return place
