"""A FAT disk image of our own files, from which U-Boot or Linux takes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pyfatfs.PyFat import PyFat
from pyfatfs.PyFatFS import PyFatFS

_LEAST_BYTES = 64 << 20  #: FAT16 in clusters that every reader takes
_LABEL = "HARNESS"


def write_disk(path: Path, files: Mapping[str, bytes]) -> None:
    """Write an image without a partition table; names are of at most eight and three characters."""
    size = _LEAST_BYTES
    while size < 2 * sum(map(len, files.values())):
        size *= 2  # models of SD cards take sizes that are powers of two
    path.touch()
    volume = PyFat()
    volume.mkfs(str(path), fat_type=PyFat.FAT_TYPE_FAT16, size=size, label=_LABEL)
    volume.close()
    with PyFatFS(str(path)) as disk:
        for name, data in files.items():
            disk.writebytes(f"/{name}", data)
