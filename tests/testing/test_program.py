"""What U-Boot's `go` starts: a program on the simulated platform, with its UART on host_terminal_0."""

from __future__ import annotations

import re
import struct

import pytest

from harness.testing import Symptom

NORMAL = "host_terminal_0"
CARD = "board.msd_mmc_2.p_mmc_file"
SHUTDOWN = "host.uart0.shutdown_on_eot"
GO = "fatload mmc 1:1 88200000 hello.bin; go 88200000\r"
LINES = "".join(f"record {number}: {'x' * 90}\r\n" for number in range(20))


@pytest.fixture
def going(booted, card, program):
    """A function that starts a program which sends a text, behind U-Boot."""

    def go(text, *symptoms, parameters=None, **choices):
        image = card({"hello.bin": program(text)})
        running = booted(*symptoms, parameters={CARD: image} | (parameters or {}), **choices)
        running.type(GO)
        running.expect(NORMAL, "## Starting application at 0x88200000 ...\r\n")
        return running

    return go


def test_eot_ends_the_model_where_it_is_asked_to(going):
    running = going("hello\r\n\x04", parameters={SHUTDOWN: 1})
    assert running.finish() == 0
    assert running.shown[NORMAL].endswith(b"...\r\nhello\r\n\x04")


def test_without_that_the_model_runs_on(going):
    running = going("hello\r\n\x04")
    running.expect(NORMAL, "hello\r\n\x04")
    assert running.silent_for(0.3)


def test_a_tag_ends_the_model_too(going):
    running = going("all is done now", parameters={"host.uart0.shutdown_tag": "is done"})
    assert running.finish() == 0


def test_the_program_is_entered_at_el2_with_mmu_and_caches_on(booted, card):
    code = (
        0xD5384241,  # mrs  x1, currentel
        0xD53C1002,  # mrs  x2, sctlr_el2
        0x53027C21,  # lsr  w1, w1, #2            2 at EL2
        0x12000043,  # and  w3, w2, #1            the MMU
        0x53020844,  # ubfx w4, w2, #2, #1        data caches
        0x530C3045,  # ubfx w5, w2, #12, #1       instruction caches
        0x0B030021,  # add  w1, w1, w3
        0x0B040021,  # add  w1, w1, w4
        0x0B050021,  # add  w1, w1, w5
        0x1100C021,  # add  w1, w1, #'0'          '5' when all are on
        0xD2A34A26,  # mov  x6, #0x1a510000
        0xB90000C1,  # str  w1, [x6]
        0xD503207F,  # wfi
    )
    image = card({"hello.bin": b"".join(word.to_bytes(4, "little") for word in code)})
    running = booted(parameters={CARD: image})
    running.type(GO)
    running.expect(NORMAL, "...\r\n5")


def test_files_on_the_command_line_can_be_gone_to(booted, program, tmp_path):
    (tmp_path / "hello.bin").write_bytes(program("hello"))
    running = booted(options=["--data", f"board.dram={tmp_path}/hello.bin@0x88200000"])
    running.type("go 0x88200000\r")
    running.expect(NORMAL, "...\r\nhello")


def test_an_application_starts_at_once_and_nothing_boots(run, tmp_path, program):
    (tmp_path / "hello.elf").write_bytes(elf(program("hello"), 0x8820_0000))
    running = run(options=["-a", f"host.cluster0.*={tmp_path}/hello.elf"])
    running.attach()
    assert running.expect(NORMAL, "hello") == "hello"
    assert not running.shown["secenc_terminal"]


def elf(image: bytes, address: int) -> bytes:
    """Return an ELF file of one segment, entered at its first byte (System V ABI, ELF-64)."""
    header_size, segment_size, size = 64, 56, len(image)
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        *(2, 183, 1, address, header_size, 0, 0),
        *(header_size, segment_size, 1, 0, 0, 0),
    )
    start = header_size + segment_size
    return header + struct.pack("<IIQQQQQQ", 1, 7, start, address, address, size, size, 4096) + image


def test_going_where_nothing_is_ends_in_u_boots_abort_handler(booted):
    running = booted()
    running.type("go 88200000\r")
    running.expect(NORMAL, '"Synchronous Abort" handler', "### ERROR ### Please RESET the board ###")
    assert b"undefined instruction" in running.process.stderr.readline()
    assert running.process.poll() is None


def test_an_application_where_no_memory_is_is_said(run, tmp_path, program):
    (tmp_path / "hello.elf").write_bytes(elf(program("hello"), 0x1000))
    running = run(options=["-a", str(tmp_path / "hello.elf")])
    assert b"no RAM at 0x1000" in running.process.stderr.readline()
    assert running.process.poll() is None


def test_the_uarts_file_gets_what_the_terminal_gets(going, tmp_path):
    log = tmp_path / "log"
    running = going("hello\x04", parameters={SHUTDOWN: 1, "host.uart0.out_file": log})
    running.finish()
    assert log.read_bytes().endswith(b"...\r\nhello\x04")


def test_a_limit_of_simulated_time_holds_for_the_program(going):
    running = going("hello", options=["--simlimit", "1.5"])
    assert running.finish() == 0
    assert "Reason: Simulated time has been exceeded." in running.stdout.decode()


@pytest.mark.parametrize(
    ("symptom", "status"),
    [
        (Symptom.DIES_IN_RECORD, 1),
        (Symptom.CRASHES_IN_RECORD, -11),
        (Symptom.EXIT_CODE_LOST, 0),
        (Symptom.LIMIT_IN_RECORD, 0),
    ],
)
def test_an_end_in_a_record_cuts_a_line_in_two(going, symptom, status):
    running = going(LINES + "\x04", symptom, parameters={SHUTDOWN: 1})
    assert running.finish() == status
    assert re.search(rb"record 5: x+$", running.shown[NORMAL])
    assert (b"exceeded" in running.stdout) == (symptom is Symptom.LIMIT_IN_RECORD)


def test_a_hang_in_a_record_leaves_the_model_alive(going):
    running = going(LINES + "\x04", Symptom.HANGS_IN_RECORD, parameters={SHUTDOWN: 1})
    running.expect(NORMAL, "record 5")
    assert running.silent_for(0.3)


def test_a_lost_tail_is_all_that_is_missing(going):
    running = going(LINES + "\x04", Symptom.TAIL_LOST, parameters={SHUTDOWN: 1})
    assert running.finish() == 0
    arrived = running.shown[NORMAL].decode()
    assert LINES.startswith(arrived.partition("...\r\n")[2])
    assert "record 18" in arrived
    assert not arrived.endswith(LINES[-50:])


def test_a_model_may_stay_after_eot(going):
    running = going("hello\r\n\x04", Symptom.STAYS_AFTER_EOT, parameters={SHUTDOWN: 1})
    running.expect(NORMAL, "hello\r\n\x04")
    assert running.silent_for(0.3)
