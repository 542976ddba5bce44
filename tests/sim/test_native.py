"""The hooks in C: what they need, and what is said when it is not there."""

from __future__ import annotations

import subprocess

import pytest

from harness.errors import BuildError
from harness.sim import native


def test_hooks_that_do_not_compile_are_said_with_the_compilers_words(tmp_path, monkeypatch):
    source = tmp_path / "hooks.c"
    source.write_text("no C at all")
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(native, "SOURCE", source)
    with pytest.raises(BuildError, match="hooks do not compile") as caught:
        native.native_hooks.__wrapped__()
    assert any("no C at all" in line for line in caught.value.evidence)


def test_a_simulator_that_cannot_compile_them_does_not_start(simulator, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "file"))
    (tmp_path / "file").write_text("no folder")
    done = subprocess.run(simulator.command("finish"), capture_output=True, text=True, timeout=60)
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: the cache folder")
    assert done.returncode == 1


def test_two_simulators_that_need_them_at_once_compile_them_once(simulator, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path))
    command = simulator.command("finish")
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [each.wait(60) for each in both] == [0, 0]
    assert len([*tmp_path.glob("simulator/*/hooks.so")]) == 1
