"""Linux on the normal world's console: kernel lines, login as root, and a shell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.testing.fvp.boot import NORMAL, RELEASES
from harness.testing.fvp.guest_shell import GuestShell, played_root
from harness.testing.fvp.keyboard import Keyboard
from harness.testing.fvp.mishaps import Moment, reach
from harness.testing.fvp.model import Model
from harness.testing.fvp.parameters import NUM_MACS

HOST = "corstone1000-a320-fvp"
PROMPT = f"root@{HOST}:~# "
ISSUE = f"Poky (Yocto Project Reference Distro) 5.3 {HOST} ttyAMA0"
ACCEL_DEVICE = "/dev/accel/accel0"  # of the driver that is part of Linux
SECONDS_BETWEEN_LINES = 0.137901  # of the kernel's own clock


def run_linux(model: Model, cards: Mapping[int, Path]) -> None:
    """Boot, and serve logins until Ended or Interrupted is raised."""
    model.say(NORMAL, "EFI stub: Booting Linux Kernel...")
    model.say(NORMAL, "EFI stub: Exiting boot services...")
    reach(model, Moment.KERNEL)
    lines = list(_kernel_lines(model))
    for number, line in enumerate(lines):
        model.wait(model.behaviour.boot_seconds / len(lines))
        model.say(NORMAL, f"[{number * SECONDS_BETWEEN_LINES:12.6f}] {line}")
    for line in ("", ISSUE, ""):
        model.say(NORMAL, line)
    keyboard = Keyboard(model, NORMAL)
    with played_root(model.behaviour, cards) as root:
        while True:
            _log_in(model, keyboard)
            with GuestShell(model, root) as shell:
                shell.serve(keyboard, PROMPT)


def _log_in(model: Model, keyboard: Keyboard) -> None:
    while keyboard.read_line(f"{HOST} login: ") != "root":
        keyboard.read_line("Password: ")
        for line in ("", "Login incorrect"):
            model.say(NORMAL, line)


def _kernel_lines(model: Model) -> Iterator[str]:
    yield "Booting Linux on physical CPU 0x0000000000 [0x410fd8f0]"
    yield f"Linux version {RELEASES[model.behaviour.release].linux} (oe-user@oe-host)"
    yield "Kernel command line: earlycon=pl011,0x1a510000 console=ttyAMA0,115200"
    yield "psci: failed to boot CPU1 (-95)"
    yield "ARM FF-A: Notification setup failed -95, not enabled"
    yield "1a510000.serial: ttyAMA0 at MMIO 0x1a510000 (irq = 14, base_baud = 0) is a PL011 rev3"
    if ACCEL_DEVICE in model.behaviour.devices:
        yield (
            "ethosu 1a050000.ethosu: Ethos-U NPU, arch v2.0.0, rev r0p0, cmd stream ver1, "
            f"{model.parameter(NUM_MACS)} MACs, 2048KB SRAM, 8 PMU cntrs"
        )
    yield "Run /sbin/init as init process"
