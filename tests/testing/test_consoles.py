"""What is on the consoles' wires: modes, noise, and readers that do not read."""

from __future__ import annotations

import re
import time

import pytest

from harness.testing import Symptom

NORMAL, SECURE, ENCLAVE = "host_terminal_0", "host_terminal_1", "secenc_terminal"
PROMPT = "corstone1000# "
IAC = b"\xff"


def boot_text(running):
    """Return the bytes of all consoles up to U-Boot's countdown."""
    running.attach()
    running.expect(NORMAL, "autoboot")
    return b"".join(running.shown.values())


def test_a_sound_console_speaks_printable_ascii_in_lines(run):
    assert re.fullmatch(rb"(?:[ -~]*\r\n|[ -~]*autoboot: +3? ?[\b]*[ 0-9]*)*", boot_text(run()))


def test_telnet_mode_begins_with_options_and_doubles_iac(run):
    running = run(terminals={"mode": "telnet"})
    assert boot_text(running).count(IAC) == 9
    running.type(" ")
    running.expect(NORMAL, PROMPT)
    running.clients[NORMAL].sendall(b"echo \xff\xfd\x01\xff\xff.\r")
    while not running.shown[NORMAL].endswith(b".\r\n" + PROMPT.encode()):
        assert running.read_consoles(10)
    assert b"echo \xff\xff." in running.shown[NORMAL]


def test_early_output_waits_for_its_client(run):
    running = run()
    ports = running.ports()
    time.sleep(0.5)
    running.attach(ports=ports)
    running.expect(ENCLAVE, "Starting TF-M BL1_1")


def test_early_output_may_be_lost(run):
    running = run(Symptom.EARLY_OUTPUT_LOST)
    ports = running.ports()
    time.sleep(0.5)
    running.attach(ports=ports)
    running.type(" ")
    running.expect(NORMAL, PROMPT)
    assert not running.shown[ENCLAVE]


def test_telnet_options_may_come_in_raw_mode(run):
    assert boot_text(run(Symptom.TELNET_BYTES)).count(IAC) == 9


def test_telnet_commands_may_stand_in_raw_text(run):
    shown = boot_text(run(Symptom.TELNET_NOISE))
    assert shown.count(b"\xff\xf1\xff\xfd\x03") > 5
    assert b"U-Boot" in shown.replace(b"\xff\xf1\xff\xfd\x03", b"")


def test_boot_text_may_be_coloured(run):
    shown = boot_text(run(Symptom.ANSI))
    assert b"\x1b[2J" in shown
    assert b"\x1b[1;32m[INF] Starting TF-M BL1_1\x1b[0m\r\n" in shown


def test_boot_text_may_overwrite_itself(run):
    shown = boot_text(run(Symptom.BARE_CR))
    assert b" 50%\r100%\r[INF] Jumping to BL1_2\r\r\n" in shown


def test_characters_may_come_in_halves(run):
    running = run(Symptom.SPLIT_UTF8)
    running.attach(ENCLAVE)
    pieces = []
    while len(pieces) < 20:
        before = len(running.shown[ENCLAVE])
        assert running.read_consoles(10)
        pieces.append(running.shown[ENCLAVE][before:])
    assert any(undecodable(piece) for piece in pieces)
    assert "\N{CHECK MARK}" in b"".join(pieces).decode(errors="ignore")


def undecodable(piece):
    try:
        piece.decode()
    except UnicodeDecodeError:
        return True
    return False


def test_bytes_may_come_one_by_one(run):
    assert any(not piece.endswith(b"\n") for piece in pieces_of_boot(run(Symptom.BYTE_BY_BYTE)))


def test_lines_come_whole_from_a_sound_console(run):
    assert all(piece.endswith(b"\n") for piece in pieces_of_boot(run()))


def pieces_of_boot(running):
    """Return what each read of the secure enclave's console brings."""
    running.attach(ENCLAVE)
    while b"Booting TF-M" not in running.shown[ENCLAVE]:
        before = len(running.shown[ENCLAVE])
        assert running.read_consoles(10)
        yield running.shown[ENCLAVE][before:]


def test_a_slow_console_drops_what_is_typed_at_once(booted):
    running = booted(Symptom.SLOW_CONSOLE)
    running.type("echo 0123456789abcdef\r")
    running.expect(NORMAL, "echo 0123456789a")
    assert not running.read_consoles(0.2)
    running.clients[NORMAL].sendall(b"\r")
    running.expect(NORMAL, "\r\n0123456789a\r\n")


def test_a_slow_console_takes_what_is_typed_slowly(booted):
    running = booted(Symptom.SLOW_CONSOLE)
    running.shown[NORMAL] = b""
    for key in "echo 0123456789abcdef\r":
        running.clients[NORMAL].sendall(key.encode())
        running.read_consoles(10)  # its echo
    running.expect(NORMAL, "\r\n0123456789abcdef\r\n")


def test_a_console_may_hang_up_and_take_another_client(run):
    running = run(Symptom.HANGS_UP)
    ports = running.ports()
    running.attach(ports=ports)
    while NORMAL in running.clients:
        assert running.read_consoles(10)
    running.attach(NORMAL, ports=ports)
    running.expect(NORMAL, "U-Boot 2025.10")


@pytest.mark.parametrize("idle", [ENCLAVE, SECURE, NORMAL])
def test_a_chatty_model_stands_still_while_a_console_is_not_read(run, idle):
    running = run(Symptom.CHATTY)
    running.attach()
    waiting = running.clients.pop(idle)
    running.read_until_silence(0.3)
    assert b"U-Boot" not in running.shown[NORMAL]
    running.clients[idle] = waiting
    running.expect(NORMAL, "U-Boot")


def test_a_chatty_model_stands_still_while_stdout_is_not_read(run):
    running = run(Symptom.CHATTY)
    running.attach()
    while running.read_consoles(0.3):
        pass
    assert b"U-Boot" not in running.shown[NORMAL]
    while b"U-Boot" not in running.shown[NORMAL]:
        assert running.read_stdout(0) | running.read_consoles(0.05)
