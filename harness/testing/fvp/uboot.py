"""U-Boot on the normal world's console: banner, countdown, prompt, and the commands that start a program.

Words and layouts are those of U-Boot 2025.10 (common/autoboot.c, cmd/boot.c, cmd/mem.c, fs/fs.c,
disk/part.c); the configuration is meta-arm's for corstone1000: prompt, delay, identity, load address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from harness.testing.fvp.boot import NORMAL, RELEASES
from harness.testing.fvp.card import CardError, Entry, FatVolume, open_volume
from harness.testing.fvp.keyboard import Keyboard
from harness.testing.fvp.memory import LoadedMemory
from harness.testing.fvp.model import Model
from harness.testing.symptoms import Symptom

PROMPT = "corstone1000# "
BOOT_DELAY = 3  # what the countdown begins with, whatever it lasts
MD_LINE, MD_DEFAULT = 16, 0x40  # bytes of a line, words shown
COMMANDS_APART = re.compile(r"\s*;\s*")
VARIABLE = re.compile(r"\$\{?(\w+)\}?")
DEVICE = re.compile(r"([0-9a-f]+)(?::([0-9a-f]+))?")
MEMORY_SIZES = {"": 4, ".l": 4, ".w": 2, ".b": 1, ".q": 8}


class Usage(Exception):
    """A command was given the wrong arguments."""


class Boot(Exception):
    """Linux is to be started."""


class Reset(Exception):
    """The board is to be reset."""


class Go(Exception):
    """A program is to be started at `address`."""

    def __init__(self, address: int) -> None:
        super().__init__(hex(address))
        self.address = address


class UBoot:
    """One U-Boot, from its banner to what it starts."""

    def __init__(self, model: Model, memory: LoadedMemory, cards: Mapping[int, Path]) -> None:
        self._model = model
        self._memory = memory
        self._cards = cards
        self._keyboard = Keyboard(model, NORMAL)
        self._environment = {
            "arch": "arm",
            "board": "corstone1000",
            "bootcmd": "boot",
            "bootdelay": str(BOOT_DELAY),
            "kernel_addr_r": "0x88200000",
        }
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "boot": self._boot,
            "echo": lambda words: self._print(" ".join(words)),
            "fatload": self._load,
            "fatls": self._list,
            "go": self._go,
            "help": lambda _: self._print("\n".join(sorted(self._commands))),
            "load": self._load,
            "ls": self._list,
            "printenv": self._show_environment,
            "reset": self._reset,
            "run": self._run_variables,
            "setenv": self._set_environment,
            "version": lambda _: self._print(self._version),
        } | {f"md{suffix}": self._dumper(size) for suffix, size in MEMORY_SIZES.items()}

    @property
    def _version(self) -> str:
        version = RELEASES[self._model.behaviour.release].u_boot
        return f"U-Boot {version} (Oct 06 2025 - 18:34:25 +0000) corstone1000-a320 aarch64 "

    def run(self) -> None:
        """Play it; ends by raising Boot, Reset or Go."""
        for line in ("", "", self._version, "", "DRAM:  2 GiB", "Core:  40 devices, 18 uclasses", "MMC:   "):
            self._model.say(NORMAL, line)
        if not self._key_stops_countdown():
            self._execute(self._environment["bootcmd"])
        while True:
            typed = self._keyboard.read_line(PROMPT)
            if typed is not None:
                self._execute(typed)

    def _key_stops_countdown(self) -> bool:
        self._send(f"Hit any key to stop autoboot: {BOOT_DELAY:2} ")
        for left in range(BOOT_DELAY - 1, -1, -1):
            key = self._model.read_byte(NORMAL, self._model.behaviour.countdown_seconds / BOOT_DELAY)
            self._send(f"\b\b\b{0 if key is not None else left:2} ")
            if key is not None:
                break
        self._send("\r\n")
        return key is not None

    def _execute(self, line: str) -> None:
        for text in COMMANDS_APART.split(line.strip()):
            words = VARIABLE.sub(lambda found: self._environment.get(found[1], ""), text).split()
            if not words:
                continue
            command = self._commands.get(words[0])
            try:
                if command is None:
                    self._print(f"Unknown command '{words[0]}' - try 'help'")
                else:
                    command(words[1:])
            except Usage:
                self._print(f"{words[0]} - see U-Boot's documentation\n\nUsage:\n{words[0]} ...")
            except CardError as error:
                self._print(str(error))

    def _print(self, text: str) -> None:
        self._send(text.replace("\n", "\r\n") + "\r\n")

    def _send(self, text: str) -> None:
        self._model.transmit(NORMAL, text.encode())

    # ---- commands; numbers are hexadecimal

    def _boot(self, _words: list[str]) -> None:
        self._print("Loading kernel from $kernel_addr to memory ... ")
        raise Boot

    def _reset(self, _words: list[str]) -> None:
        self._print("resetting ...")
        raise Reset

    def _go(self, words: list[str]) -> None:
        if not words:
            raise Usage
        address = _number(words[0])
        self._print(f"## Starting application at 0x{address:08X} ...")
        raise Go(address)

    def _list(self, words: list[str]) -> None:
        volume = self._volume(words)
        folder = words[2] if len(words) > 2 else ""
        try:
            entries = volume.entries(folder)
        except FileNotFoundError:
            entries = []
        for entry in entries:
            self._print(_listing(entry))
        files = sum(entry.size is not None for entry in entries)
        self._print(f"\n{files} file(s), {len(entries) - files} dir(s)\n")

    def _load(self, words: list[str]) -> None:
        if len(words) < 4:
            raise Usage
        volume = self._volume(words)
        address, file = _number(words[2]), words[3]
        data = None if self._model.has(Symptom.LOAD_FAILS) else _contents(volume, file)
        if data is None:
            self._print(f"Failed to load '{file}'")
            return
        self._memory.write(address, data)
        self._environment |= {"filesize": f"{len(data):x}", "fileaddr": f"{address:x}"}
        self._print(f"{len(data)} bytes read in 1 ms ({len(data) / 1.048576e3:.1f} MiB/s)")

    def _volume(self, words: list[str]) -> FatVolume:
        if len(words) < 2 or words[0] != "mmc" or not (found := DEVICE.fullmatch(words[1])):
            raise Usage
        device, partition = found.groups()
        return open_volume(self._cards, int(device, 16), None if partition is None else int(partition, 16))

    def _show_environment(self, words: list[str]) -> None:
        for name in words or sorted(self._environment):
            if name in self._environment:
                self._print(f"{name}={self._environment[name]}")
            else:
                self._print(f'## Error: "{name}" not defined')

    def _set_environment(self, words: list[str]) -> None:
        if not words:
            raise Usage
        if len(words) == 1:
            self._environment.pop(words[0], None)
        else:
            self._environment[words[0]] = " ".join(words[1:])

    def _run_variables(self, words: list[str]) -> None:
        for name in words:
            if name in self._environment:
                self._execute(self._environment[name])
            else:
                self._print(f'## Error: "{name}" not defined')

    def _dumper(self, size: int) -> Callable[[list[str]], None]:
        def dump(words: list[str]) -> None:
            if not words:
                raise Usage
            count = _number(words[1]) if len(words) > 1 else MD_DEFAULT
            for line in self._dump(_number(words[0]), count * size, size):
                self._print(line)

        return dump

    def _dump(self, address: int, length: int, size: int) -> Iterator[str]:
        for start in range(0, length, MD_LINE):
            data = self._memory.read(address + start, min(MD_LINE, length - start))
            values = (int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size))
            numbers = "".join(f" {value:0{2 * size}x}" for value in values)
            text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)
            yield f"{address + start:08x}:{numbers:{MD_LINE // size * (2 * size + 1)}}  {text}"


def _contents(volume: FatVolume, file: str) -> bytes | None:
    try:
        return volume.read(file)
    except FileNotFoundError:
        return None


def _number(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise Usage from None


def _listing(entry: Entry) -> str:
    name = entry.path.rpartition("/")[2]
    return f"            {name}/" if entry.size is None else f" {entry.size:8}   {name}"
