"""All cases by name, and the configuration of the NPU that each is compiled for."""

from __future__ import annotations

import zlib

from harness.models.compiled import MAC_COUNTS

from . import cases_elementwise, cases_kernels, cases_layout, cases_reductions
from .network import Operator

CASES: dict[str, Operator] = {
    **cases_kernels.CASES,
    **cases_elementwise.CASES,
    **cases_layout.CASES,
    **cases_reductions.CASES,
}


def macs(name: str) -> int:
    """Return a case's MAC count: spread over all, and the same for ever for the same name."""
    return MAC_COUNTS[zlib.crc32(name.encode()) % len(MAC_COUNTS)]
