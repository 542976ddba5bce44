"""Fixtures for the model tests: a cache of the test's own, small networks, and compilers that misbehave."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import pytest

from harness.cache import CACHE_VARIABLE
from harness.models.catalog import ModelKind, ModelSource
from harness.models.tflite_writer import GraphSpec, OperatorSpec, TensorSpec, write_tflite
from harness.models.vela import VelaCompiler
from harness.processes import run_tool


@pytest.fixture
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is empty at first and belongs to this test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    return folder


@pytest.fixture(scope="session")
def adder() -> ModelSource:
    """The smallest network with two inputs."""
    tensors = tuple(
        TensorSpec(name, (1, 8), "int8", (Fraction(1, 16),), 3) for name in ("left", "right", "sum")
    )
    operator = OperatorSpec("ADD", (0, 1), (2,), {"FusedActivationFunction": 0})
    graph = GraphSpec("addition", tensors, (operator,), inputs=(0, 1), outputs=(2,))
    return ModelSource("addition", write_tflite(graph), ModelKind.TFLITE)


class VelaFile(Protocol):
    """A function that has Vela itself compile a network for 256 MACs, and returns the file it wrote."""

    def __call__(
        self, source: ModelSource, *options: str, memory_mode: str = "Sram_Only", output: str = "tflite"
    ) -> Path: ...


@pytest.fixture(scope="session")
def vela_file(tmp_path_factory: pytest.TempPathFactory) -> VelaFile:
    """A VelaFile that runs Vela once for the same request."""

    @functools.cache
    def run(
        source: ModelSource, *options: str, memory_mode: str = "Sram_Only", output: str = "tflite"
    ) -> Path:
        folder = tmp_path_factory.mktemp("vela")
        model = folder / f"{source.name}.tflite"
        model.write_bytes(source.data)
        fixed = ("--accelerator-config=ethos-u85-256", "--config=Arm/vela.ini", f"--output-dir={folder}")
        system = ("--system-config=Ethos_U85_SYS_DRAM_Mid", f"--memory-mode={memory_mode}")
        command = (sys.executable, "-m", "ethosu.vela", str(model), *fixed, *system, *options)
        assert run_tool((*command, f"--output-format={output}"), timeout_seconds=60).status == 0
        return folder / f"{source.name}_vela.{'npz' if output == 'raw' else 'tflite'}"

    return run


FakeVela = Callable[[str], VelaCompiler]


@pytest.fixture
def fake_vela(tmp_path: Path) -> FakeVela:
    """A function that makes a Vela out of a Python program; its command line is in `sys.argv`."""

    def make(program: str) -> VelaCompiler:
        script = tmp_path / "fake_vela.py"
        script.write_text(program)
        return VelaCompiler((sys.executable, str(script)), version="fake")

    return make


@pytest.fixture
def adder_vela(tmp_path: Path, adder: ModelSource, vela_file: VelaFile) -> VelaCompiler:
    """A Vela that takes no time, since it knows one network only: `adder`."""
    raw = vela_file(adder, "--cop-format=COP2", "--separate-io-regions", output="raw")
    script = tmp_path / "adder_vela.py"
    script.write_text(f"import shutil; shutil.copy({str(raw)!r}, 'model_vela.npz')")
    return VelaCompiler((sys.executable, str(script)), version="fake")
