"""The boot chain on three consoles, and U-Boot's prompt."""

from __future__ import annotations

import pytest

from harness.testing import Symptom

NORMAL, SECURE, ENCLAVE = "host_terminal_0", "host_terminal_1", "secenc_terminal"
PROMPT = "corstone1000# "

FIRST_LINE = "Starting TF-M BL1_1"


def test_the_landmarks_come_in_their_order(booted):
    running = booted()
    running.expect(
        ENCLAVE,
        FIRST_LINE,
        "Jumping to BL1_2",
        "Starting TF-M BL1_2",
        "Attempting to boot image 0",
        "BL2 image validated successfully",
        "Starting bootloader",
        "Jumping to the first image slot",
        "Booting TF-M v2.2.2",
    )
    running.expect(SECURE, "NOTICE:  BL2: ", "NOTICE:  BL31: ", "I/TC: OP-TEE version: 4.9.0")


def test_an_earlier_release_names_its_versions(booted):
    running = booted(release="2025.12")
    running.expect(ENCLAVE, "Booting TF-M v2.2.1")
    running.expect(SECURE, "I/TC: OP-TEE version: 4.7.0")


def test_harmless_errors_belong_to_every_boot(booted):
    assert "mmap_add_region_check() failed. error -22" in booted().expect(SECURE, "I/TC")


def test_only_the_first_boot_provisions_and_that_twice(booted, tmp_path):
    first = booted()
    assert first.expect(ENCLAVE, "Booting TF-M").count(FIRST_LINE) == 3
    assert (tmp_path / "run" / "nvm_image.bin").exists()
    first.close()
    assert booted().expect(ENCLAVE, "Booting TF-M").count(FIRST_LINE) == 1


def test_a_stale_nvm_image_stops_the_boot(run, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "nvm_image.bin").touch()
    running = run(Symptom.STALE_NVM)
    running.attach()
    running.expect(ENCLAVE, FIRST_LINE, "\r\n")
    assert running.silent_for(0.3)


def test_without_a_boot_rom_nothing_happens(run):
    running = run(firmware=False)
    running.attach()
    assert running.silent_for(0.3)


def test_without_a_flash_image_bl2_is_not_found(run, mock):
    running = run(firmware=False, options=mock().firmware_arguments[:2])
    running.attach()
    running.expect(ENCLAVE, "[ERR] BL2 image failed to validate", "\r\n[ERR]", "\r\n")
    assert running.silent_for(0.3)


def test_the_boot_takes_as_long_as_the_test_wants(run):
    slow, fast = run(boot_seconds=60), run(boot_seconds=0)
    fast.attach()
    fast.expect(NORMAL, "U-Boot 2025.10")
    slow.attach()
    assert not slow.shown[NORMAL]


def test_a_countdown_that_nobody_stops_boots_linux(run):
    running = run(countdown_seconds=0.1)
    running.attach()
    running.expect(NORMAL, "Hit any key to stop autoboot:  3", "Loading kernel", "login: ")


def test_what_is_typed_is_echoed_and_can_be_erased(booted):
    running = booted()
    running.type("echox\x7f one\x08\x08\x08two\r")
    assert running.expect(NORMAL, "\r\ntwo\r\n", PROMPT).startswith("echox\b \b one\b \b")


def test_ctrl_c_gives_a_line_up(booted):
    running = booted()
    running.type("frobnicate\x03")
    assert "Unknown" not in running.expect(NORMAL, "^C", PROMPT)


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_every_end_of_a_line_counts_once(booted, end):
    running = booted()
    running.type(f"echo a{end}")
    running.expect(NORMAL, "\r\na\r\n", PROMPT)
    assert not running.read_consoles(0.1)


def test_an_unknown_command_is_named(booted):
    assert booted().do("frobnicate now") == "Unknown command 'frobnicate' - try 'help'\r\n"


def test_commands_with_missing_arguments_show_their_usage(booted):
    running = booted()
    for command in ("go", "fatload mmc 1:1", "fatls usb 0", "md", "go rubbish"):
        assert "Usage:" in running.do(command)


def test_the_environment_can_be_shown_set_and_used(booted):
    running = booted()
    assert running.do("printenv kernel_addr_r") == "kernel_addr_r=0x88200000\r\n"
    assert running.do("setenv greeting echo hello; run greeting") == "hello\r\n"
    assert running.do("echo ${kernel_addr_r} $missing.") == "0x88200000 .\r\n"
    assert running.do("printenv missing") == '## Error: "missing" not defined\r\n'


def test_reset_boots_again(booted):
    running = booted()
    running.type("reset\r")
    running.expect(NORMAL, "resetting ...", "U-Boot 2025.10", "Hit any key")


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("device", ["1", "1:1"])
def test_files_of_a_card_are_listed_and_loaded(booted, card, partitioned, device):
    data = bytes(range(256)) * 40
    image = card({"IMAGE.BIN": data, "boot/second.dtb": b"x"}, partitioned=partitioned)
    running = booted(parameters={"board.msd_mmc_2.p_mmc_file": image})
    listing = "            boot/\r\n    10240   IMAGE.BIN\r\n\r\n1 file(s), 1 dir(s)\r\n\r\n"
    assert running.do(f"fatls mmc {device}") == listing
    assert running.do(f"fatls mmc {device} boot").split()[:2] == ["1", "second.dtb"]
    assert "10240 bytes read in " in running.do(f"fatload mmc {device} 0x88200000 image.bin")
    assert running.do("printenv filesize") == "filesize=2800\r\n"
    assert running.do("md.b 88200010 10").startswith("88200010: 10 11 12 13 14 15")
    assert running.do("md 88200000 4").startswith("88200000: 03020100 07060504 0b0a0908 0f0e0d0c  ....")


def test_what_is_not_on_a_card_is_not_loaded(booted, card):
    running = booted(parameters={"board.msd_mmc_2.p_mmc_file": card({"a.bin": b"1"})})
    assert running.do("fatload mmc 1:1 88200000 b.bin") == "Failed to load 'b.bin'\r\n"
    assert "** Invalid partition 2 **" in running.do("fatload mmc 1:2 88200000 a.bin")
    assert "no card present" in running.do("fatls mmc 0:1")


def test_a_card_without_a_file_system_is_said(booted, tmp_path):
    (tmp_path / "noise.img").write_bytes(b"\x01" * 4096)
    running = booted(parameters={"board.msd_mmc.p_mmc_file": tmp_path / "noise.img"})
    assert "**" in running.do("fatls mmc 0")


def test_a_load_that_fails_can_be_had(booted, card):
    parameters = {"board.msd_mmc_2.p_mmc_file": card({"a.bin": b"1"})}
    running = booted(Symptom.LOAD_FAILS, parameters=parameters)
    assert running.do("fatload mmc 1:1 88200000 a.bin") == "Failed to load 'a.bin'\r\n"


def test_a_card_whose_image_is_missing_is_said_and_the_boot_goes_on(booted):
    running = booted(parameters={"board.msd_mmc.p_mmc_file": "old-20250101.wic"})
    running.process.terminate()
    running.finish()
    assert running.stderr == b"Can't stat old-20250101.wic! (error 2)\n"
