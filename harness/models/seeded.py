"""Bytes that look random and depend on a name alone."""

from __future__ import annotations

import hashlib


def seeded_bytes(seed: str, count: int) -> bytes:
    """`count` bytes of SHAKE-256 over `seed`: evenly spread, and the same with every library version."""
    return hashlib.shake_256(seed.encode()).digest(count)
