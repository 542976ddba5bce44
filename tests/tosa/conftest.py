"""Fixtures of the NPU's tests that compile networks, and place them in memory."""

from __future__ import annotations

from ..npu.conftest import fast_compiler, network

__all__ = ["fast_compiler", "network"]
