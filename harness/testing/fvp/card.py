"""Memory cards: files of a FAT file system in the image that a card's parameter names.

The image is one file system, or has an MBR whose partitions are; U-Boot takes the first kind as partition 1
of itself (disk/part_dos.c, the case of a DOS boot record).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECTOR = 512
FIRST_ENTRY, ENTRY, ENTRIES = 446, 16, 4
START_OF_PARTITION = 8  # in an entry, in sectors
SIGNATURE = b"\x55\xaa"
FILE_SYSTEM_TYPES = {54: b"FAT", 82: b"FAT32"}  # offset in a FAT boot sector → what stands there


class CardError(Exception):
    """There is no such card, partition or file system; the message is U-Boot's."""


@dataclass(frozen=True)
class Entry:
    """A file, or a directory with size None."""

    path: str  #: without a slash at its beginning
    size: int | None


class FatVolume:
    """One FAT file system, opened for reading."""

    def __init__(self, image: Path, offset: int) -> None:
        """Open it `offset` bytes from the image's start; raises CardError."""
        # Of pyfatfs only this part: the other imports PyFilesystem, which takes longer than a boot.
        from pyfatfs import PyFATException
        from pyfatfs.PyFat import PyFat

        self._fat: Any = PyFat(offset=offset)
        try:
            self._fat.open(str(image), read_only=True)
        except PyFATException:
            raise CardError("** Unrecognized filesystem type **") from None

    def entries(self, folder: str = "") -> list[Entry]:
        """Return what is directly in `folder`; raises FileNotFoundError."""
        directory = self._find(folder)
        if not directory.is_directory():
            raise FileNotFoundError(folder)
        prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
        return [
            Entry(prefix + str(found), None if found.is_directory() else found.filesize)
            for found in _contents(directory)
        ]

    def walk(self, folder: str = "") -> Iterator[Entry]:
        """Yield every file below `folder`."""
        for entry in self.entries(folder):
            if entry.size is None:
                yield from self.walk(entry.path)
            else:
                yield entry

    def read(self, path: str) -> bytes:
        """Return a file's contents; raises FileNotFoundError."""
        entry = self._find(path)
        if entry.is_directory():
            raise FileNotFoundError(path)
        if not entry.filesize:
            return b""
        chain = self._fat.get_cluster_chain(entry.get_cluster())
        return b"".join(map(self._fat.read_cluster_contents, chain))[: entry.filesize]

    def _find(self, path: str) -> Any:
        """Return the directory entry that `path` names, in whatever case; raises FileNotFoundError."""
        entry = self._fat.root_dir
        for name in filter(None, path.lower().split("/")):
            inside = _contents(entry) if entry.is_directory() else []
            entry = next((found for found in inside if str(found).lower() == name), None)
            if entry is None:
                raise FileNotFoundError(path)
        return entry


def _contents(directory: Any) -> list[Any]:
    folders, files, _ = directory.get_entries()
    return [*folders, *files]


def partitions(image: Path) -> Mapping[int, int]:
    """Return number → offset in bytes of every partition; 0 alone when the image is a file system itself."""
    with image.open("rb") as file:
        sector = file.read(SECTOR)
    if any(sector[at : at + len(name)] == name for at, name in FILE_SYSTEM_TYPES.items()):
        return {0: 0}
    if not sector.endswith(SIGNATURE):
        return {}
    entries = (FIRST_ENTRY + number * ENTRY for number in range(ENTRIES))
    starts = [struct.unpack_from("<I", sector, entry + START_OF_PARTITION)[0] for entry in entries]
    return {number: start * SECTOR for number, start in enumerate(starts, 1) if start}


def open_volume(cards: Mapping[int, Path], device: int, partition: int | None) -> FatVolume:
    """Return a card's file system; `partition` None is the first one. Raises CardError."""
    if device not in cards:
        raise CardError(f"MMC: no card present\n** Bad device specification mmc {device} **")
    found = partitions(cards[device])
    if 0 in found and partition in (None, 0, 1):
        return FatVolume(cards[device], 0)
    if not found:
        raise CardError(f"** No partition table - mmc {device} **")
    number = next(iter(found)) if partition is None else partition
    if number not in found:
        raise CardError(f"** Invalid partition {number} **")
    return FatVolume(cards[device], found[number])
