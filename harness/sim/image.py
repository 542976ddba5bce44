"""The application: an ELF file's segments, to be loaded by physical address."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile


class ImageError(Exception):
    """The application cannot be loaded; the message names the file and the reason."""


@dataclass(frozen=True)
class Segment:
    """Bytes at a physical address; `data` includes the zeros of .bss."""

    address: int
    data: bytes


@dataclass(frozen=True)
class Image:
    """A program and where it starts."""

    entry: int
    segments: tuple[Segment, ...]


def read_elf(path: Path) -> Image:
    """Return the PT_LOAD segments and the entry point of an AArch64 ELF executable; raises ImageError."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if elf["e_machine"] != "EM_AARCH64":
                raise ImageError(f"'{path}' is not an AArch64 program but {elf['e_machine']}")
            loads = [segment for segment in elf.iter_segments("PT_LOAD") if segment["p_memsz"]]
            if any(len(load.data()) != load["p_filesz"] for load in loads):
                raise ImageError(f"'{path}' is truncated")
            segments = tuple(
                Segment(load["p_paddr"], load.data().ljust(load["p_memsz"], b"\0")) for load in loads
            )
            return Image(elf["e_entry"], segments)
    except OSError as error:
        raise ImageError(f"cannot read '{path}': {error.strerror}") from None
    except ELFError as error:
        raise ImageError(f"'{path}' is not an ELF file: {error}") from None
