"""Reading fields of any width from any bit of a byte string, least significant bit first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.weights.layout import WeightError


class Bits:
    """A byte string with a position; fields of up to 57 bits are read one after another, or many at once."""

    def __init__(self, data: bytes) -> None:
        padded = np.frombuffer(data + bytes(8), np.uint8)
        windows = np.lib.stride_tricks.sliding_window_view(padded, 8)
        self._windows: NDArray[np.uint64] = np.ascontiguousarray(windows).view("<u8")[:, 0]
        self.windows: list[int] = self._windows.tolist()
        """The 64 bits from each byte on; the last entry lies behind the data."""
        self.length = 8 * len(data)
        self.position = 0

    def take(self, width: int) -> int:
        """Read the next field and move on.  Raises WeightError at the end of the data."""
        start = self.position
        self.position += width
        if self.position > self.length:
            raise WeightError(f"weight stream ends inside a slice, at bit {self.length}")
        return self.windows[start >> 3] >> (start & 7) & ((1 << width) - 1)

    def gather(self, starts: NDArray[np.int64], width: int) -> NDArray[np.int64]:
        """Read the fields that begin at *starts*, all of them inside the data; the position stays."""
        shift: NDArray[np.uint64] = (starts & 7).astype(np.uint64)
        fields: NDArray[np.uint64] = self._windows[starts >> 3] >> shift & np.uint64((1 << width) - 1)
        return fields.astype(np.int64)

    def align(self) -> None:
        """Move on to the next whole byte."""
        self.position = (self.position + 7) & ~7
