"""Writes coverage.txt and docs/npu-operators.md anew: `python -m tests.npu.proof`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness.models.catalog import ModelKind, ModelSource
from harness.models.vela import CompileOptions, VelaCompiler, compile_model, installed_compiler

from ..forking_vela import forking_vela
from . import coverage, document


def main() -> None:
    """Compile everything and write what it exercises."""
    with tempfile.TemporaryDirectory() as folder, forking_vela(Path(folder)) as command:
        compiler = VelaCompiler(command, installed_compiler().version)
        lines = coverage.exercised(
            lambda name, tflite, macs: compile_model(
                ModelSource(name, tflite, ModelKind.TFLITE), CompileOptions(macs=macs), compiler
            )
        )
    stored = sorted(lines, key=_order)
    coverage.FILE.write_text("".join(f"{line}\n" for line in stored))
    document.FILE.write_text(document.render(stored))


def _order(line: str) -> tuple[str, int, str]:
    field, _, value = line.partition(" ")
    return field, int(value) if value.isdigit() else 0, value


if __name__ == "__main__":
    main()
