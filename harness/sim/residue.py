"""Cache lines that a boot loader wrote and did not clean, until the guest cleans them by set and way.

What the loader wrote is in the CPU view of memory only. Each data cache keeps a line in the set that the low
bits of its address say, and in the way that the next bits say, so that a sweep over all sets and ways meets
every line and one that leaves some out does not. A clean hands the line to the next cache, and from the last
one to the memory view (Arm DDI 0487, D7.5.9: the operand of DC CSW; D24.2.28, CCSIDR_EL1).
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.sim.memory import PhysicalMemory

LEVELS = 7  # that CLIDR_EL1 has fields for
DATA_CACHE = 2  # least CLIDR_EL1.Ctype of a level that keeps data


@dataclass(frozen=True)
class Geometry:
    """One data cache; the size of its lines is in bytes."""

    line: int
    sets: int
    ways: int

    @classmethod
    def from_register(cls, ccsidr: int) -> Geometry:
        """Decode CCSIDR_EL1 in its 32-bit layout."""
        return cls(line=16 << (ccsidr & 7), sets=(ccsidr >> 13 & 0x7FFF) + 1, ways=(ccsidr >> 3 & 0x3FF) + 1)

    def place(self, address: int) -> int:
        """The number of the place, out of sets times ways, that keeps the line at `address`."""
        return address // self.line % (self.sets * self.ways)

    def named_by(self, operand: int) -> int:
        """The number of the place that the operand of a DC operation by set and way names."""
        way = (operand & 0xFFFF_FFFF) >> 32 - (self.ways - 1).bit_length() if self.ways > 1 else 0
        index = operand // self.line % self.sets
        return way * self.sets + index


class Residue:
    """The lines, by cache and place."""

    def __init__(self, memory: PhysicalMemory, caches: tuple[Geometry, ...]) -> None:
        """Begin with clean `caches`, the one next to the core first."""
        self._memory = memory
        self._caches = caches
        self._held: tuple[dict[int, list[int]], ...] = tuple({} for _ in caches)

    def hold(self, address: int, size: int) -> None:
        """Take `size` bytes from `address` on as written by the loader."""
        line = self._caches[0].line
        for start in range(address & -line, address + size, line):
            self._keep(0, start)

    def clean(self, operand: int) -> None:
        """Carry out DC CSW or DC CISW on the line that `operand` names, if it is held."""
        level = operand >> 1 & 7
        if level >= len(self._caches):
            return
        for address in self._held[level].pop(self._caches[level].named_by(operand), ()):
            if level + 1 < len(self._caches):
                self._keep(level + 1, address)
            else:
                self._memory.write_back(address, self._caches[level].line)

    def _keep(self, level: int, address: int) -> None:
        self._held[level].setdefault(self._caches[level].place(address), []).append(address)


def data_cache_levels(clidr: int) -> int:
    """How many levels, from the first on, keep data, by CLIDR_EL1."""
    kinds = (clidr >> 3 * level & 7 for level in range(LEVELS))
    return next((level for level, kind in enumerate(kinds) if kind < DATA_CACHE), LEVELS)
