"""The played Linux's shell: the host's `sh`, confined to a few programs, in a folder that plays the root.

Of the host it has only the programs of PROGRAMS, by links in the one folder of its PATH. Paths of the board
are turned into those below the folder where they are typed, and back where they are printed. Every card lies
unpacked beside it; `mount` copies it to its place, and puts the scripts of the test in the place of their
programs. Nothing is written back to a card's image.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from harness.testing.behaviour import Behaviour, Script
from harness.testing.fvp.boot import NORMAL, RELEASES
from harness.testing.fvp.card import CardError, FatVolume, partitions
from harness.testing.fvp.keyboard import Keyboard
from harness.testing.fvp.mishaps import Moment, expected, reach
from harness.testing.fvp.model import Ended, Model

PROGRAMS = """
awk base64 basename cat chmod cksum cmp cp cut date dd dirname env expr find grep head hexdump id ln ls md5sum
mkdir mktemp mv nproc od rm rmdir sed seq sh sha256sum sleep sort stat tail tee timeout touch tr uniq wc which
xargs xxd
"""
FOLDERS = ("bin", "dev", "home", "media", "mnt", "proc", "root", "run", "tmp", "usr", "var")
HIDDEN = ".stand-in"  # folder for what the board does not have
# A path of the board: not the end of another one, and not the host's /dev/null.
BOARD_PATH = re.compile(rf"(?<![\w./-])(?!/dev/null\b)(?=/(?:{'|'.join(FOLDERS)})\b)")
POWER_OFF = "poweroff"
LOGOUT = re.compile(r"(?:^|[;&|])\s*(?:exit|logout)\b")
MARK = b"\x01"  # after the output of each line that was typed
RUN_LINE = f". \"$ROOT/{HIDDEN}/line\"; status=$?; printf '\\001'; ( exit $status )\n".encode()

MOUNT = """\
mounts=$ROOT/.stand-in/mounts
[ $# = 0 ] && { cat "$mounts"; exit; }
while getopts t:o:rwv option; do :; done
shift $((OPTIND - 1))
device=${1#"$ROOT"} folder=${2#"$ROOT"} card=$ROOT/.stand-in/cards/${1##*/}
if ! [ -d "$card" ] || ! [ -d "$2" ]; then
    echo "mount: mounting $device on $folder failed: No such file or directory" >&2
    exit 255
fi
cp -r "$card/." "$2"
for script in "$ROOT/.stand-in/scripts"/*; do
    name=${script##*/}
    [ -f "$card/$name" ] && cp "$script" "$2/$name"
done
echo "$device on $folder type vfat (rw,relatime)" >> "$mounts"
"""
UMOUNT = """\
mounts=$ROOT/.stand-in/mounts folder=${1#"$ROOT"}
if ! grep -q " on $folder type vfat" "$mounts"; then
    echo "umount: can't unmount $folder: Invalid argument" >&2
    exit 1
fi
sed -i "\\| on $folder type vfat|d" "$mounts"
rm -r "$ROOT$folder"/*
"""
UNAME = """\
case $1 in -r) echo {release} ;; -m) echo aarch64 ;; *) echo Linux ;; esac
"""
ROOT_MOUNTS = """\
/dev/root on / type ext4 (rw,relatime)
devtmpfs on /dev type devtmpfs (rw,relatime)
proc on /proc type proc (rw,relatime)
"""


@contextmanager
def played_root(behaviour: Behaviour, cards: Mapping[int, Path]) -> Iterator[Path]:
    """A folder that plays the root of the board's file system, until the block is left.

    It lies in the model's working directory, and goes with that should the model be killed.
    """
    with tempfile.TemporaryDirectory(prefix="mock-fvp-", dir=Path.cwd()) as folder:
        root = Path(folder).resolve()
        for name in (*FOLDERS, f"{HIDDEN}/scripts", f"{HIDDEN}/cards", f"{HIDDEN}/bin"):
            (root / name).mkdir(parents=True, exist_ok=True)
        (root / HIDDEN / "mounts").write_text(ROOT_MOUNTS)
        for device in behaviour.devices:
            _make_device(root, device)
        for number, image in cards.items():
            _unpack(root, f"mmcblk{number}", image)
        for name, script in behaviour.scripts:
            _write_program(root / HIDDEN / "scripts" / name, _played(script))
        _make_programs(root / HIDDEN / "bin", RELEASES[behaviour.release].linux)
        yield root


class GuestShell:
    """One shell from login to logout."""

    def __init__(self, model: Model, root: Path) -> None:
        self._model = model
        self._root = root
        self._line = root / HIDDEN / "line"
        self._process = self._start()
        self._until_mishap = expected(model, Moment.IN_RECORD)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def serve(self, keyboard: Keyboard, prompt: str) -> None:
        """Run what is typed, until that is a logout. Raises Ended when the board is switched off."""
        while True:
            line = keyboard.read_line(prompt) or ""
            if line.strip() == POWER_OFF:
                self._model.transmit(NORMAL, b"reboot: Power down\r\n")
                raise Ended(0)
            if not self._run(line):
                if LOGOUT.search(line):
                    return
                self._restart()  # a syntax error ends a shell that is not interactive

    def _run(self, line: str) -> bool:
        """Run a line; return whether the shell is still there."""
        # In a file of its own, so that quotes that are left open cannot take in what follows.
        self._line.write_text(BOARD_PATH.sub(str(self._root), line) + "\n")
        _stream(self._process.stdin).write(RUN_LINE)
        _stream(self._process.stdin).flush()
        output = _stream(self._process.stdout).fileno()
        pending = b""
        while True:
            self._model.wait_for(output)
            data = os.read(output, 1 << 16)
            pending += data
            ended = not data or pending.endswith(MARK)
            ready = len(pending) if ended else pending.rfind(b"\n") + 1
            self._print(pending[:ready].removesuffix(MARK))
            pending = pending[ready:]
            if ended:
                return bool(data)

    def _print(self, output: bytes) -> None:
        hidden = f"{self._root}/{HIDDEN}/bin/".encode()
        text = output.replace(hidden, b"").replace(str(self._root).encode(), b"").replace(b"\n", b"\r\n")
        if text and self._until_mishap:
            self._model.transmit(NORMAL, text[: len(text) // 2])
            reach(self._model, Moment.IN_RECORD)
        if text:
            self._model.transmit(NORMAL, text)

    def _restart(self) -> None:
        self._end()
        self._process = self._start()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            _stream(stream).close()

    def _start(self) -> subprocess.Popen[bytes]:
        home = self._root / "root"
        programs = self._root / HIDDEN / "bin"
        return subprocess.Popen(
            [programs / "sh"],
            cwd=home,
            env={"PATH": str(programs), "HOME": str(home), "ROOT": str(self._root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ValueError("the shell was started without pipes")
    return pipe


def _make_device(root: Path, name: str) -> None:
    """Make a device node as `test -c` sees it, which without privileges only a link to one can be."""
    node = root / name.lstrip("/")
    node.parent.mkdir(parents=True, exist_ok=True)
    node.symlink_to(os.devnull)


def _unpack(root: Path, name: str, image: Path) -> None:
    _make_device(root, f"/dev/{name}")
    for number, offset in partitions(image).items():
        device = f"{name}p{number}" if number else name
        if number:
            _make_device(root, f"/dev/{device}")
        with suppress(CardError):  # what is no FAT file system can be seen, but not mounted
            _copy_files(FatVolume(image, offset), root / HIDDEN / "cards" / device)


def _copy_files(volume: FatVolume, folder: Path) -> None:
    folder.mkdir()
    for entry in volume.walk():
        file = folder / entry.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(volume.read(entry.path))
        file.chmod(0o755)  # as vfat shows every file


def _make_programs(folder: Path, release: str) -> None:
    for name in PROGRAMS.split():
        if (found := shutil.which(name)) is not None:
            (folder / name).symlink_to(found)
    for name, text in {
        "dmesg": "",
        "mount": MOUNT,
        "stty": "",
        "sync": "",
        "umount": UMOUNT,
        "uname": UNAME.format(release=release),
    }.items():
        _write_program(folder / name, text)


def _played(script: Script) -> str:
    return f"{script.commands}\nprintf '%s' {shlex.quote(script.output)}\nexit {script.status}\n"


def _write_program(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}")
    file.chmod(0o755)
