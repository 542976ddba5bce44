"""The application: an ELF file's segments, to be loaded by physical address.

Read with `struct`, because importing an ELF library would take as long as a small network runs. Layouts are
those of the System V ABI, "ELF-64 Object File Format".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

MAGIC_64_LITTLE = b"\x7fELF\x02\x01"
MACHINE_AARCH64 = 183
PT_LOAD = 1
IDENTITY = 16  # bytes of e_ident

# e_type, e_machine, e_version, e_entry, e_phoff, e_shoff, e_flags, e_ehsize, e_phentsize, e_phnum
FILE_HEADER = struct.Struct("<HHIQQQIHHH")
# p_type, p_flags, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz
PROGRAM_HEADER = struct.Struct("<IIQQQQQ")


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
        return _parse(path.read_bytes())
    except OSError as error:
        raise ImageError(f"cannot read '{path}': {error.strerror}") from None
    except struct.error:
        raise ImageError(f"'{path}' is truncated") from None
    except ImageError as error:
        raise ImageError(f"'{path}' {error}") from None


def _parse(file: bytes) -> Image:
    if not file.startswith(MAGIC_64_LITTLE):
        raise ImageError("is not an ELF file of a 64-bit little-endian machine")
    _, machine, _, entry, headers, _, _, _, stride, count = FILE_HEADER.unpack_from(file, IDENTITY)
    if machine != MACHINE_AARCH64:
        raise ImageError(f"is not an AArch64 program but one for machine {machine}")
    found = (_segment(file, headers + number * stride) for number in range(count))
    return Image(entry, tuple(segment for segment in found if segment is not None))


def _segment(file: bytes, header: int) -> Segment | None:
    """Return what a program header loads, None when that is nothing."""
    kind, _, offset, _, address, file_size, memory_size = PROGRAM_HEADER.unpack_from(file, header)
    if kind != PT_LOAD or not memory_size:
        return None
    data = file[offset : offset + file_size]
    if len(data) != file_size:
        raise ImageError("is truncated")
    return Segment(address, data.ljust(memory_size, b"\0"))
