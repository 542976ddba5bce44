"""How the hardware cuts an operation into blocks, on which the order of weights and the cycles depend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import CommandError
from harness.sim.npu.opcodes import MICROBLOCKS, AccFormat
from harness.sim.npu.registers import Registers


@dataclass(frozen=True)
class Blocks:
    """OFM block, microblock and accumulator width."""

    ofm: tuple[int, int, int]  #: height, width, depth
    micro: tuple[int, int]  #: height, width
    acc48: bool

    @property
    def accumulator_limit(self) -> int:
        """The smallest number that is too large for an accumulator."""
        return 1 << 47 if self.acc48 else 1 << 31

    def check_accumulators(self, values: NDArray[np.int64]) -> None:
        """Refuse sums that an accumulator could not hold: what the hardware makes of them is not public."""
        if values.max() >= self.accumulator_limit or values.min() < -self.accumulator_limit:
            raise CommandError(f"an accumulator passes {self.accumulator_limit}")


def blocks_from_registers(registers: Registers) -> Blocks:
    """Read OFM_BLK_* and ACC_FORMAT.  Raises CommandError."""
    microblock = registers.value("ACC_FORMAT", "microblock")
    if microblock >= len(MICROBLOCKS):
        raise CommandError(f"ACC_FORMAT.microblock has the undefined value {microblock}")
    return Blocks(
        (
            registers.value("OFM_BLK_HEIGHT_M1") + 1,
            registers.value("OFM_BLK_WIDTH_M1") + 1,
            registers.value("OFM_BLK_DEPTH_M1") + 1,
        ),
        MICROBLOCKS[microblock],
        registers.enum(AccFormat, "ACC_FORMAT", "format") is AccFormat.I48,
    )
