"""Toolchains: which there are, and what is said of one that is not."""

from __future__ import annotations

import importlib.metadata

import pytest

from harness.build.toolchain import GCCS, find_toolchain
from harness.errors import BuildError, UsageError


def test_zig_says_its_version():
    assert find_toolchain().identity.startswith("zig 0.")


def test_an_unknown_toolchain_is_a_usage_error_that_lists_the_known():
    with pytest.raises(UsageError, match="allowed: zig, aarch64-none-elf-gcc, aarch64-linux-gnu-gcc"):
        find_toolchain("clang")


def test_a_missing_zig_is_a_build_error_with_a_hint(monkeypatch):
    def find_nothing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", find_nothing)
    with pytest.raises(BuildError, match="no Python package ziglang") as caught:
        find_toolchain()
    assert "pip" in caught.value.hint


@pytest.mark.parametrize("name", GCCS)
def test_a_missing_gcc_is_a_build_error_that_names_it(name, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BuildError, match=f"{name} is missing") as caught:
        find_toolchain(name)
    assert "zig" in caught.value.hint


def test_a_missing_home_does_not_stop_zig(monkeypatch):
    monkeypatch.delenv("HOME")
    assert find_toolchain().environment["HOME"]
