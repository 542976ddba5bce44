"""The versions that results depend on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from harness.settings import Settings


def package_version(distribution: str) -> str | None:
    """The installed version of a distribution; None where it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def versions(settings: Settings) -> dict[str, str]:
    """Tool by tool; a tool that is not installed has no entry."""
    packages = {
        "vela": "ethos-u-vela",
        "unicorn": "unicorn",
        "numpy": "numpy",
        "tflite_micro": "tflite-micro",
    }
    found = {name: package_version(distribution) for name, distribution in packages.items()}
    return {
        **{name: text for name, text in found.items() if text is not None},
        "toolchain": settings.toolchain.version,
        "python": platform.python_version(),
    }
