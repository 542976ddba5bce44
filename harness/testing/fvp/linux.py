"""The mocked board's Linux: a kernel's lines, a login, and a shell.

Commands run in the host's shell, in a folder that has the board's `/dev` and `/mnt`. Mounting a disk puts its
files there, and those that a Script stands for become that script.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from harness.testing.fvp.parameters import Values
from harness.testing.fvp.terminal import Terminal
from harness.testing.mock_fvp import Description

HOST = "corstone1000-a320-fvp"
_KERNEL = (
    "Loading kernel from 0x083F0000 to memory ...",
    "EFI stub: Booting Linux Kernel...",
    "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd8f0]",
    "[    0.000000] Linux version 6.12.60-yocto-standard (oe-user@oe-host)",
    "[    0.812345] psci: failed to boot CPU1 (-95)",
)
_PANIC = "[    1.234567] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)"
_END = "\x01"
_FOLDERS = ("dev", "mnt", "root", "tmp", "bin")


class Linux:
    """One boot of it."""

    def __init__(
        self, description: Description, values: Values, terminal: Terminal, read_line: Callable[..., str]
    ) -> None:
        """`read_line` reads what is typed on the terminal, with echo or without."""
        self._description = description
        self._values = values
        self._terminal = terminal
        self._read_line = read_line

    def run(self, *, panics: bool) -> None:
        """Boot, and serve whoever logs in, for ever; return at once after a panic."""
        self._say(*_KERNEL)
        if panics:
            self._say(_PANIC)
            return
        root = self._make_root(Path("root").absolute())
        while True:
            self._log_in()
            self._serve(root)

    def _make_root(self, root: Path) -> Path:
        for name in _FOLDERS:
            (root / name).mkdir(parents=True)
        for device in self._description.devices:
            path = root / device.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        _write_program(root / "bin" / "mount", f'touch "{root}/mounted"\n')
        _write_program(root / "bin" / "umount", "exit 0\n")
        _write_program(root / "bin" / "dmesg", "exit 0\n")
        return root

    def _log_in(self) -> None:
        while True:
            self._terminal.send(f"\r\n{HOST} login: ")
            if self._read_line() == "root":
                return
            self._say("Password: ", "Login incorrect")

    def _serve(self, root: Path) -> None:
        path = f"{root / 'bin'}:/usr/bin:/bin"
        with subprocess.Popen(
            ["/bin/sh"],
            cwd=root / "root",
            env={"PATH": path, "HOME": str(root / "root")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as shell:
            while True:
                self._terminal.send(f"root@{HOST}:~# ")
                line = self._read_line()
                if line.strip() in ("exit", "logout"):
                    shell.kill()
                    return
                self._do(shell, root, line)

    def _do(self, shell: subprocess.Popen[str], root: Path, line: str) -> None:
        if shell.stdin is None or shell.stdout is None:
            return
        for folder in _FOLDERS:
            line = line.replace(f" /{folder}", f" {root}/{folder}")
        shell.stdin.write(f"{line}\nprintf '\\001'\n")
        shell.stdin.flush()
        output = ""
        while not output.endswith(_END):
            output += shell.stdout.read(1)
        self._terminal.send(output[:-1].replace(str(root), "").replace("\n", "\r\n"))
        if (root / "mounted").exists():
            (root / "mounted").unlink()
            self._mount(root)

    def _mount(self, root: Path) -> None:
        from pyfatfs.PyFatFS import PyFatFS

        scripts = dict(self._description.scripts)
        disk = self._values.text("board.msd_mmc_2.p_mmc_file")
        with PyFatFS(disk, read_only=True) as volume:
            for name in volume.listdir("/"):
                path = root / "mnt" / name
                if name in scripts:
                    script = scripts[name]
                    text = script.output.replace("'", "'\\''")
                    _write_program(path, f"printf '%s' '{text}'\nexit {script.status}\n")
                else:
                    path.write_bytes(volume.readbytes(f"/{name}"))

    def _say(self, *lines: str) -> None:
        for line in lines:
            self._terminal.send(f"{line}\r\n")


def _write_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
