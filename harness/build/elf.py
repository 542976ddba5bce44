"""Reading a linked image: its segments, its symbols, and the bytes that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from harness.errors import BuildError


@dataclass(frozen=True)
class Segment:
    """What is loaded at one address. `memory_size` is larger than the data where zeros follow."""

    address: int
    file_offset: int
    data: bytes
    memory_size: int


@dataclass(frozen=True)
class Elf:
    """A linked image."""

    path: Path
    entry: int
    segments: tuple[Segment, ...]  #: by rising address
    symbols: Mapping[str, int]

    def file_offset(self, symbol: str) -> int:
        """Where in the file the bytes at a symbol stand; BuildError when the image has none."""
        if symbol not in self.symbols:
            raise BuildError(f"{self.path.name} has no symbol {symbol!r}")
        address = self.symbols[symbol]
        for segment in self.segments:
            if 0 <= address - segment.address < len(segment.data):
                return segment.file_offset + address - segment.address
        raise BuildError(f"{self.path.name}: no loaded bytes at {symbol!r} ({address:#x})")

    def flat(self) -> bytes:
        """The image as a boot loader takes it: all bytes from the first loaded address to the last."""
        start = self.segments[0].address
        image = bytearray(max(segment.address + len(segment.data) for segment in self.segments) - start)
        for segment in self.segments:
            image[segment.address - start : segment.address - start + len(segment.data)] = segment.data
        return bytes(image)


def read_elf(path: Path) -> Elf:
    """Read an image that the linker has just written."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        segments = [
            Segment(part["p_paddr"], part["p_offset"], part.data(), part["p_memsz"])
            for part in elf.iter_segments("PT_LOAD")
        ]
        symbols = {
            symbol.name: symbol["st_value"]
            for section in elf.iter_sections()
            if isinstance(section, SymbolTableSection)
            for symbol in section.iter_symbols()
        }
        entry = elf.header["e_entry"]
    return Elf(path, entry, tuple(sorted(segments, key=lambda segment: segment.address)), symbols)
