"""Behind U-Boot's `go`: the flat image on the simulated platform, its UART on the normal world's terminal."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

from harness.testing.fvp.parameters import Values
from harness.testing.fvp.terminal import Terminal
from harness.testing.mock_fvp import Description
from harness.testing.symptoms import Symptom

EOT = b"\x04"
_CUT = 1500  #: bytes of records before the model dies or hangs in one
_TAIL = 300
_SIMULATOR = (sys.executable, "-P", "-m", "harness.sim", "-q")
_CUTS = (Symptom.DIES_IN_RECORD, Symptom.EXIT_CODE_LOST, Symptom.HANGS_IN_RECORD)


class Platform:
    """Runs an image once."""

    def __init__(self, description: Description, values: Values, terminal: Terminal) -> None:
        """Take over the terminal when it runs."""
        self._description = description
        self._values = values
        self._terminal = terminal
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()

    def run(self, image: bytes, address: int) -> int | None:
        """Run the image to its end; the model's exit status, or None when the model runs on."""
        elf = Path("image.elf")
        elf.write_bytes(wrap(image, address))
        self._process = subprocess.Popen(
            [*_SIMULATOR, *self._parameters(), "-a", str(elf)], stdout=subprocess.PIPE
        )
        output = self._process.stdout
        assert output is not None  # noqa: S101  there is a pipe
        if any(map(self._description.has, _CUTS)):
            self._terminal.send(output.read(_CUT))
            self.end()
            return self._status_of_a_cut()
        self._pass_on(output.fileno())
        self._process.wait()
        stays = self._description.has(Symptom.STAYS_AFTER_EOT) or self._description.has(
            Symptom.IGNORES_SIGNALS
        )
        if stays or not self._values.is_set("host.uart0.shutdown_on_eot"):
            return None
        return 0

    def end(self) -> None:
        """Kill what still runs."""
        if self._process is not None:
            self._process.kill()

    def _parameters(self) -> list[str]:
        macs = self._values.text("host.ethosu.num_macs")
        pairs = (f"host.ethosu.num_macs={macs}", "host.cpu.entry_el=2", "host.uart0.shutdown_on_eot=1")
        return [part for pair in pairs for part in ("-C", pair)]

    def _pass_on(self, output: int) -> None:
        kept = b""
        while data := os.read(output, 1 << 16):
            if not self._description.has(Symptom.TAIL_LOST):
                self._terminal.send(data)
                continue
            kept += data
            self._terminal.send(kept[:-_TAIL])
            kept = kept[-_TAIL:]

    def _status_of_a_cut(self) -> int | None:
        if self._description.has(Symptom.HANGS_IN_RECORD):
            return None
        return 0 if self._description.has(Symptom.EXIT_CODE_LOST) else 1


def wrap(image: bytes, address: int) -> bytes:
    """An ELF file with these bytes at this address, which starts at the first (System V ABI, ELF-64)."""
    header_size, program_size = 64, 56
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    executable, aarch64, loadable, all_rights = 2, 183, 1, 7
    header = ident + struct.pack(
        "<HHIQQQIHHHHHH",
        *(executable, aarch64, 1, address, header_size, 0, 0),
        *(header_size, program_size, 1, 0, 0, 0),
    )
    start = header_size + program_size
    size = len(image)
    program = struct.pack("<IIQQQQQQ", loadable, all_rights, start, address, address, size, size, 16)
    return header + program + image
