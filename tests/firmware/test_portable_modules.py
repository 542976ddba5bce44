"""The pool, buffers and record lines, compiled for the host and driven from Python."""

from __future__ import annotations

import base64
import ctypes
import hashlib
import platform
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.build.toolchain import find_toolchain
from harness.console.protocol import MAX_LINE, crc
from harness.data_files import data_folder

MODULES = (
    "ethosu/ethosu_buffer.c",
    "ethosu/ethosu_error.c",
    "ethosu/ethosu_ledger.c",
    "ethosu/ethosu_memory.c",
    "memory/pool.c",
    "runner/base64.c",
    "runner/crc32.c",
    "runner/record.c",
    "runner/sha256.c",
)
ZERO_SIZE, NO_SPACE, TOO_MANY_BLOCKS = -1, -2, -3
POOL_SIZE = 4096
MAX_BLOCKS = 100
NONCE = "0123456789abcdef"

pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="the library is loaded as an ELF file")


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    firmware = data_folder("firmware")
    folder = tmp_path_factory.mktemp("host")
    path = folder / "portable.so"
    (folder / "capacity.h").write_text(f"#define POOL_MAX_BLOCKS {MAX_BLOCKS}\n")
    zig = [sys.executable, "-m", "ziglang", "cc", "-std=c11", "-O1", "-shared", "-fPIC", "-nostdlib"]
    sources = [
        *(str(firmware / module) for module in MODULES),
        str(Path(__file__).parent / "host" / "host.c"),
    ]
    subprocess.run(
        [*zig, f"-I{firmware}", f"-I{folder}", "-o", str(path), *sources],
        env=dict(find_toolchain().environment),
        check=True,
        timeout=120,
    )
    loaded = ctypes.CDLL(str(path))
    loaded.host_take.restype = ctypes.c_long
    for name in ("host_used", "host_batch_offset", "host_read", "host_record_bytes"):
        getattr(loaded, name).restype = ctypes.c_size_t
    for name in ("host_batch_create", "host_write"):
        getattr(loaded, name).restype = ctypes.c_char_p
    loaded.host_memory.restype = ctypes.POINTER(ctypes.c_uint8 * POOL_SIZE)
    loaded.host_record_decimal.argtypes = (ctypes.c_char_p, ctypes.c_uint64)
    return loaded


@pytest.fixture
def host(library):
    library.host_reset()
    return library


def create(host, *sizes):
    return host.host_batch_create((ctypes.c_size_t * len(sizes))(*sizes), len(sizes)).decode()


def write(host, data, index=0):
    return host.host_write(index, data, len(data)).decode()


def read(host, size, index=0):
    buffer = ctypes.create_string_buffer(size)
    count = host.host_read(index, buffer, size)
    return buffer.raw[:count]


def pool_bytes(host):
    return bytes(host.host_memory().contents)


def lines(host):
    length = ctypes.c_size_t.in_dll(host, "console_length").value
    text = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(host, "console")), length)
    return text.decode("ascii").split("\r\n")[:-1]


def test_sizes_are_rounded_up_to_16(host):
    assert host.host_take(1, 16) == 0
    assert host.host_take(17, 16) == 16
    assert host.host_used() == 48


def test_the_lowest_gap_that_fits_is_taken(host):
    offsets = [host.host_take(64, 64) for _ in range(3)]
    host.host_give_back(offsets[1])
    assert host.host_take(65, 64) == 192
    assert host.host_take(64, 64) == offsets[1]


@pytest.mark.parametrize("size", [POOL_SIZE + 1, 2**64 - 1])
def test_more_than_the_pool_has_is_no_space(host, size):
    assert host.host_take(ctypes.c_size_t(size), 16) == NO_SPACE
    assert host.host_used() == 0


def test_a_block_of_no_bytes_is_an_error(host):
    assert host.host_take(0, 16) == ZERO_SIZE


def test_a_full_table_of_blocks_is_an_error(host):
    most = MAX_BLOCKS
    host.host_pretend_size(ctypes.c_size_t((most + 1) * 16))
    assert all(host.host_take(16, 16) >= 0 for _ in range(most))
    assert host.host_take(16, 16) == TOO_MANY_BLOCKS


@given(st.lists(st.tuples(st.integers(1, 700), st.sampled_from([16, 64, 256]), st.booleans()), max_size=40))
def test_live_blocks_never_overlap_and_an_emptied_pool_is_as_new(library, requests):
    library.host_reset()
    live = {}
    for size, alignment, give_one_back in requests:
        if give_one_back and live:
            offset = next(iter(live))
            library.host_give_back(offset)
            del live[offset]
        offset = library.host_take(size, alignment)
        if offset < 0:
            assert offset == NO_SPACE
            continue
        end = offset + -(-size // 16) * 16
        assert offset % alignment == 0
        assert end <= POOL_SIZE
        assert all(end <= start or stop <= offset for start, stop in live.items())
        live[offset] = end
    assert library.host_used() == sum(stop - start for start, stop in live.items())
    for offset in live:
        library.host_give_back(offset)
    assert library.host_used() == 0
    assert library.host_take(POOL_SIZE, 16) == 0


def test_a_batch_is_one_allocation_in_which_each_buffer_starts_at_16(host):
    assert create(host, 5, 20, 3) == "ok"
    assert [host.host_batch_offset(index) for index in range(3)] == [0, 16, 48]
    assert host.host_used() == 64


@pytest.mark.parametrize("sizes", [(), (16, 0)])
def test_a_batch_with_nothing_in_it_is_an_error(host, sizes):
    assert create(host, *sizes) == "zero-size"
    assert host.host_used() == 0


def test_a_batch_that_does_not_fit_leaves_nothing(host):
    assert create(host, 4000, 200) == "out-of-memory"
    assert host.host_used() == 0


def test_a_new_buffer_is_zero_whatever_its_memory_held(host):
    create(host, 100)
    assert read(host, 100) == bytes(100)


def test_a_second_write_without_a_rewind_has_no_space(host):
    create(host, 10)
    assert write(host, b"0123456789") == "ok"
    assert write(host, b"x") == "no-space"
    host.host_rewind()
    assert write(host, b"9876543210") == "ok"


def test_a_second_read_without_a_rewind_gets_nothing(host):
    create(host, 10)
    write(host, b"0123456789")
    host.host_rewind()
    assert read(host, 10) == b"0123456789"
    assert read(host, 10) == b""


def test_reads_go_on_where_the_last_one_ended(host):
    create(host, 10)
    write(host, b"0123456789")
    host.host_rewind()
    assert [read(host, 4) for _ in range(3)] == [b"0123", b"4567", b"89"]


def test_buffers_of_a_batch_have_positions_of_their_own(host):
    create(host, 4, 4)
    assert (write(host, b"abcd", 0), write(host, b"efgh", 1)) == ("ok", "ok")
    host.host_rewind()
    assert (read(host, 4, 1), read(host, 4, 0)) == (b"efgh", b"abcd")


def test_destroying_a_batch_zeroes_it_and_nothing_else(host):
    create(host, 100)
    write(host, b"x" * 100)
    host.host_destroy()
    assert pool_bytes(host) == bytes(112) + b"\xa5" * (POOL_SIZE - 112)
    assert host.host_used() == 0


VALUES = st.integers(0, 2**64 - 1)


@given(st.lists(VALUES, max_size=2), st.lists(VALUES, min_size=1, max_size=30))
def test_records_keep_to_the_line_limit_and_lose_no_field(library, common, fields):
    library.host_reset()
    library.host_record_begin(b"phases")
    for number, value in enumerate(common):
        library.host_record_decimal(f"c{number}".encode(), value)
    library.host_record_common()
    for number, value in enumerate(fields):
        library.host_record_decimal(f"field{number}".encode(), value)
    library.host_record_send()

    spoken = lines(library)
    first = int(spoken[0].split()[1])
    repeated = [f"c{number}={value}" for number, value in enumerate(common)]
    told = []
    for number, line in enumerate(spoken):
        text, _, checksum = line.rpartition(" *")
        marker, sequence, kind, *rest = text.split(" ")
        assert len(line) <= MAX_LINE
        assert checksum == crc(text, NONCE)
        assert (marker, int(sequence), kind) == ("@h1", first + number, "phases")
        assert rest[: len(repeated)] == repeated
        told += rest[len(repeated) :]
    assert told == [f"field{number}={value}" for number, value in enumerate(fields)]


@given(st.binary(min_size=1, max_size=300))
def test_bytes_come_back_from_their_records(library, data):
    library.host_reset()
    offset = 0
    while offset < len(data):
        library.host_record_begin(b"data")
        offset += library.host_record_bytes(b"b64", data[offset:], len(data) - offset)
        library.host_record_send()
    chunks = [line.split(" b64=")[1].split(" *")[0] for line in lines(library)]
    assert b"".join(base64.b64decode(chunk, validate=True) for chunk in chunks) == data


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000])
@pytest.mark.parametrize("share", [0, 0.4, 1])
def test_a_digest_is_sha256_however_its_message_is_cut(library, size, share):
    data = bytes(i * 7 % 256 for i in range(size))
    words = (ctypes.c_uint32 * 8)()
    library.host_sha256(data, ctypes.c_size_t(size), ctypes.c_size_t(int(size * share)), words)
    assert struct.pack(">8I", *words) == hashlib.sha256(data).digest()
