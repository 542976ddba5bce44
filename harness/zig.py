"""Zig as a C compiler: the one that PyPI has, for the firmware and for the simulator's hooks."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Mapping

from harness.cache import cache_folder
from harness.errors import BuildError

ZIG_CC = (sys.executable, "-P", "-m", "ziglang", "cc")


def zig_version() -> str:
    """The installed version; raises BuildError where there is none."""
    try:
        return importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError:
        raise BuildError(
            "the compiler zig is missing: there is no Python package ziglang",
            hint="install ziglang with pip",
        ) from None


def zig_environment() -> Mapping[str, str]:
    """The environment to run it in: its caches are part of ours."""
    caches = str(cache_folder("zig"))
    return {
        "HOME": caches,  # zig fails without one; the user's own wins
        **os.environ,
        "ZIG_GLOBAL_CACHE_DIR": caches,
        "ZIG_LOCAL_CACHE_DIR": caches,
    }


def zig_folders() -> tuple[str, ...]:
    """Where it is installed."""
    spec = importlib.util.find_spec("ziglang")
    return tuple(spec.submodule_search_locations or ()) if spec is not None else ()
