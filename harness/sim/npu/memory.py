"""What the NPU asks of the memory around it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Memory(Protocol):
    """Memory as the NPU's bus masters see it, not as the CPU's caches do."""

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return `size` bytes at `address`: contiguous, writable, not a copy.

        Raises BusFault(address, size) when any of the bytes lies outside the memory that the NPU can reach.
        """
        ...
