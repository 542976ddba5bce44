"""The disk image holds the files that a boot loader is to find."""

from __future__ import annotations

import pytest
from pyfatfs.PyFatFS import PyFatFS

from harness.boards.disk import write_disk


@pytest.mark.parametrize("size", [0, 1, 1_500_000])
def test_files_come_back(tmp_path, size):
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    write_disk(tmp_path / "disk.img", {"harness.bin": data, "note.txt": b"hello"})
    with PyFatFS(str(tmp_path / "disk.img"), read_only=True) as disk:
        assert disk.readbytes("/harness.bin") == data
        assert disk.readbytes("/note.txt") == b"hello"


def test_its_size_is_a_power_of_two_with_room_to_spare(tmp_path):
    write_disk(tmp_path / "disk.img", {"harness.bin": bytes(40 << 20)})
    assert (tmp_path / "disk.img").stat().st_size == 128 << 20
