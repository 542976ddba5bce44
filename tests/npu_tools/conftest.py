"""Fixtures for the tools around the NPU model: networks with the names of their layers, and profiles."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from harness.models.catalog import load_model
from harness.models.vela import CompileOptions
from harness.npu_tools.layers import NamedModel, compile_with_layers
from harness.npu_tools.profile import Profile, profile
from harness.sim.npu import parse_payload
from harness.sim.npu.cycles import VelaProfile

SYSTEM = "Ethos_U85_SYS_DRAM_Mid"


@pytest.fixture(scope="session")
def named() -> Callable[..., NamedModel]:
    """A function that compiles a network by name."""

    @cache
    def compile_(name: str, mode: str = "Sram_Only", macs: int = 256) -> NamedModel:
        return compile_with_layers(load_model(name), CompileOptions(macs, SYSTEM, mode))

    return compile_


@pytest.fixture(scope="session")
def profiled(named) -> Callable[..., Profile]:
    """A function that compiles and profiles a network by name."""

    @cache
    def measure(name: str, mode: str = "Sram_Only", macs: int = 256) -> Profile:
        return profile(named(name, mode, macs), VelaProfile(SYSTEM, mode))

    return measure


@pytest.fixture
def stream(named) -> bytes:
    """The command stream of ds_cnn."""
    return parse_payload(named("ds_cnn").compiled.command_stream).stream
