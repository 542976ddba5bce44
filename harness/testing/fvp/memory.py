"""The host's memory before a program runs: what was loaded where, the latest on top."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class LoadedMemory:
    """Pieces of memory by address, in the order they were loaded; all else is zero."""

    pieces: list[tuple[int, bytes]] = field(default_factory=list)

    def write(self, address: int, data: bytes) -> None:
        """Load `data`."""
        self.pieces.append((address, data))

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes."""
        shown = bytearray(size)
        for start, data in self.pieces:
            first, last = max(start, address), min(start + len(data), address + size)
            if first < last:
                shown[first - address : last - address] = data[first - start : last - start]
        return bytes(shown)
