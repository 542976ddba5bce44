"""The NPU model is a library of its own."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import harness.sim.npu

PACKAGE = Path(harness.sim.npu.__file__).parent
DOORS = {"subprocess", "os", "socket", "pathlib", "multiprocessing", "time", "random", "ctypes"}


def imported(source):
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_it_imports_numpy_the_standard_library_and_itself_only():
    modules = {name for source in PACKAGE.rglob("*.py") for name in imported(source)}
    foreign = {
        name
        for name in modules
        if not name.startswith("harness.sim.npu")
        and name.split(".")[0] not in {"numpy", *sys.stdlib_module_names}
    }
    assert not foreign


def test_it_opens_no_door_to_the_outside():
    modules = {name.split(".")[0] for source in PACKAGE.rglob("*.py") for name in imported(source)}
    assert not modules & DOORS
