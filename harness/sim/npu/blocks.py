"""How the hardware cuts an operation into blocks, on which the order of weights and the cycles depend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu import cycles
from harness.sim.npu.faults import CommandError
from harness.sim.npu.feature_map import InMemory, Operand, Scalar
from harness.sim.npu.opcodes import MICROBLOCKS, AccFormat
from harness.sim.npu.output import OutputStage
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


Memories = Sequence[cycles.Memory]
"""Where each region lies, by region number."""


def traffic(feature_maps: Sequence[Operand], memories: Memories) -> tuple[cycles.FeatureMap, ...]:
    """Describe feature maps to the cycle estimate; scalars cause no traffic."""
    return tuple(
        cycles.FeatureMap(
            *feature_map.shape,
            bits=8 * feature_map.dtype.itemsize,
            brick=isinstance(feature_map, InMemory) and feature_map.brick,
            memory=memories[feature_map.region]
            if isinstance(feature_map, InMemory)
            else cycles.Memory.CHAINED,
        )
        for feature_map in feature_maps
        if not isinstance(feature_map, Scalar)
    )


def swaps_rows(output: OutputStage) -> bool:
    """Whether the OFM write exchanges height and width, or goes backwards along the width."""
    height_axis, width_axis, _ = output.transpose
    return (height_axis, width_axis) == (1, 0) or output.reverse == 1
