"""What runs on the mocked board: the boot chain on three consoles, up to U-Boot and what that starts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from harness.testing.fvp.linux import Linux
from harness.testing.fvp.parameters import TERMINALS, Values
from harness.testing.fvp.platform import Platform
from harness.testing.fvp.terminal import Terminal
from harness.testing.mock_fvp import Description
from harness.testing.symptoms import Symptom

NVM_IMAGE = "nvm_image.bin"
CHATTER_BYTES = 1 << 20
PROMPT = "corstone1000# "

_ENCLAVE_ROM = ("[INF] Starting TF-M BL1_1", "[INF] Jumping to BL1_2", "[INF] Starting TF-M BL1_2")
_PROVISIONING = ("[INF] Provisioning dummy keys", "[INF] Resetting after provisioning")
_ENCLAVE = (
    "[INF] Attempting to boot image 0",
    "[INF] BL2 image validated successfully",
    "[INF] Jumping to BL2",
    "[INF] Starting bootloader",
    "[INF] Jumping to the first image slot",
    "Booting TF-M v2.2.2",
)
_SECURE = (
    "NOTICE:  BL2: v2.14.1(release)",
    "ERROR:   mmap_add_region_check() failed. error -22",
    "NOTICE:  BL31: v2.14.1(release)",
    "I/TC: OP-TEE version: 4.9.0",
)
_UBOOT = (
    "",
    "U-Boot 2025.10 corstone1000-a320 aarch64",
    "",
    "DRAM:  2 GiB",
    "MMC:   mmc@40300000: 0, mmc@50000000: 1",
)


class Stopped(Exception):
    """The simulation is over: with this exit status, and this said."""

    def __init__(self, status: int = 0, reason: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Guest:
    """The software of one simulation. It stops by raising Stopped."""

    def __init__(
        self,
        description: Description,
        values: Values,
        terminals: Mapping[str, Terminal],
        stop: threading.Event,
    ) -> None:
        """`stop` is set when the simulation ends from outside."""
        self._description = description
        self._values = values
        self._normal, self._secure, self._enclave = (terminals[path] for path in TERMINALS)
        self._stop = stop
        self._loaded: dict[int, bytes] = {}
        self._platform = Platform(description, values, self._normal)

    def run(self) -> None:
        """Boot, and do what is typed."""
        self._boot_enclave()
        self._say(self._secure, *_SECURE)
        self._pause()
        self._chat()
        if self._description.has(Symptom.DIES_IN_BOOT):
            raise Stopped(1, "Error: simulation aborted")
        self._u_boot()

    def end(self) -> None:
        """Stop what still runs."""
        self._platform.end()

    def _boot_enclave(self) -> None:
        nvm = Path(NVM_IMAGE)
        stale = nvm.exists() and self._description.has(Symptom.STALE_NVM)
        self._say(self._enclave, *_ENCLAVE_ROM)
        if not nvm.exists():
            for _ in range(2):  # a first start provisions keys, and the enclave boots twice before it goes on
                self._say(self._enclave, *_PROVISIONING, *_ENCLAVE_ROM)
                self._pause()
            nvm.write_bytes(bytes(1 << 16))
        if stale or self._description.has(Symptom.HANGS_IN_BOOT):
            self._stop.wait()
        if self._description.has(Symptom.DEATH_STRING):
            self._say(self._enclave, "[ERR] BL2 image failed to validate")
            self._stop.wait()
        self._say(self._enclave, *_ENCLAVE)

    def _u_boot(self) -> None:
        self._say(self._normal, *_UBOOT)
        self._normal.send("Hit any key to stop autoboot: ")
        if self._counts_down():
            self._boot_linux()
        while True:
            self._normal.send(f"{PROMPT}")
            self._do(self._read_line())

    def _counts_down(self) -> bool:
        """Whether nobody pressed a key."""
        seconds = int(self._description.countdown_seconds)
        for left in range(seconds, 0, -1):
            self._normal.send(f" {left} \b\b\b")
            if self._normal.read_key(self._description.countdown_seconds / seconds) is not None:
                self._normal.send("\r\n")
                return False
        self._normal.send("\r\n")
        return True

    def _do(self, line: str) -> None:
        command, *words = line.split() or [""]
        actions = {"fatload": self._fatload, "fatls": self._fatls, "go": self._go, "printenv": self._printenv}
        if command == "boot":
            self._boot_linux()
        elif command in actions:
            actions[command](words)
        elif command:
            self._say(self._normal, f"Unknown command '{command}' - try 'help'")

    def _disk(self, device: str) -> Path | None:
        names = {"0": "board.msd_mmc.p_mmc_file", "1": "board.msd_mmc_2.p_mmc_file"}
        file = self._values.text(names.get(device.partition(":")[0], ""))
        return Path(file) if file and Path(file).is_file() else None

    def _fatload(self, words: list[str]) -> None:
        if len(words) != 4:
            self._say(self._normal, "Usage:", "fatload <interface> [<dev[:part]> [<addr> [<filename>]]]")
            return
        _, device, address, name = words
        data = None if self._description.has(Symptom.LOAD_FAILS) else self._file(device, name)
        if data is None:
            self._say(self._normal, f"Failed to load '{name}'")
            return
        self._loaded[int(address, 16)] = data
        self._say(self._normal, f"{len(data)} bytes read in 12 ms ({len(data) / 12e3:.1f} MiB/s)")

    def _file(self, device: str, name: str) -> bytes | None:
        from pyfatfs.PyFatFS import PyFatFS

        disk = self._disk(device)
        if disk is None:
            return None
        with PyFatFS(str(disk), read_only=True) as volume:
            return bytes(volume.readbytes(f"/{name}")) if volume.exists(f"/{name}") else None

    def _fatls(self, words: list[str]) -> None:
        from pyfatfs.PyFatFS import PyFatFS

        disk = self._disk(words[1] if len(words) > 1 else "")
        if disk is None:
            self._say(self._normal, "** Bad device specification mmc **")
            return
        with PyFatFS(str(disk), read_only=True) as volume:
            names = volume.listdir("/")
            self._say(self._normal, *(f" {volume.getsize(f'/{name}'):8}   {name}" for name in names))

    def _go(self, words: list[str]) -> None:
        address = int(words[0], 16) if words else 0
        self._say(self._normal, f"## Starting application at 0x{address:08X} ...")
        if address not in self._loaded:
            self._say(self._normal, '"Synchronous Abort" handler, esr 0x02000000')
            self._stop.wait()
            return
        status = self._platform.run(self._loaded[address], address)
        if status is not None:
            raise Stopped(status, "Error: simulation aborted" if status else "")
        self._stop.wait()

    def _printenv(self, _words: list[str]) -> None:
        self._say(self._normal, "bootdelay=3", "kernel_addr_r=0x88200000")

    def _boot_linux(self) -> None:
        panics = self._description.has(Symptom.KERNEL_PANIC)
        Linux(self._description, self._values, self._normal, self._read_line).run(panics=panics)
        self._stop.wait()

    def _read_line(self, *, echo: bool = True) -> str:
        line = ""
        while not self._stop.is_set():
            key = self._normal.read_key(0.1)
            if key in (b"\r", b"\n"):
                self._normal.send("\r\n")
                return line
            if key == b"\x7f":
                line = line[:-1]
            elif key is not None:
                line += key.decode("ascii", errors="replace")
                if echo:
                    self._normal.send(key)
        raise Stopped

    def _say(self, terminal: Terminal, *lines: str) -> None:
        has = self._description.has
        end = "\r" if has(Symptom.BARE_CR) else "\r\n"
        before, after = ("\x1b[2K\x1b[32m", "\x1b[0m") if has(Symptom.ANSI) else ("", "")
        sign = " \u2713\u20ac" if has(Symptom.SPLIT_UTF8) else ""
        for line in lines:
            terminal.send(f"{before}{line}{sign}{after}{end}")

    def _pause(self) -> None:
        if self._stop.wait(self._description.boot_seconds / 3):
            raise Stopped

    def _chat(self) -> None:
        """Fill every console and standard output, and go on only once somebody has read it."""
        if not self._description.has(Symptom.CHATTY):
            return
        line = b"[DBG] " + b"x" * 72 + b"\r\n"
        os.write(1, b"")
        for _ in range(CHATTER_BYTES // len(line)):
            os.write(1, line)
        for terminal in (self._enclave, self._secure, self._normal):
            while not terminal.is_connected:
                time.sleep(0.01)
            terminal.send(line * (CHATTER_BYTES // len(line)))
