"""AArch64 programs for the simulator's tests: assembled with zig once, kept for the whole test session."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from harness.boards.simulator import PROGRAM
from harness.sim.main import main

LINKER_SCRIPT = """\
ENTRY(_start)
PHDRS { everything PT_LOAD FLAGS(7); }
SECTIONS {
  . = 0x88200000;
  .text : { *(.text*) *(.data*) } :everything
  .bss : { *(.bss*) } :everything
}
"""

# What every program may use. `put_hex REG` sends sixteen digits and a newline and changes x10 to x14. After
# `report_traps`, every exception is reported as five numbers (offset of its vector, ESR, FAR, ELR less the
# label `trap`, SPSR without flags), and returns to the label `after`. `npu_copy` has the NPU
# copy bytes, waits for that, and changes x1 and x2.
PRELUDE = """\
.equ UART, 0x1a510000
.equ NPU, 0x1a050000
.macro load reg, value
  ldr \\reg, =\\value
.endm
.macro report_traps
  load x1, vectors
  msr vbar_el1, x1
  msr far_el1, xzr
  load x20, trap
  load x21, after
  isb
.endm
.macro put_hex reg
  mov x10, \\reg
  bl send_hex
.endm
.macro put_byte value
  load x12, UART
  mov w11, #\\value
  str w11, [x12]
.endm
.macro npu_copy source, target, length
  b 2f
  .balign 16
1: .word 0x130, 0x131, 0x4030, \\source, 0x4031, \\target, 0x4032, \\length, 0x10, 0x11, 0xffff0000
2: load x1, NPU
  adr x2, 1b
  str w2, [x1, #0x10]
  mov w2, #(2b - 1b)
  str w2, [x1, #0x20]
  mov w2, #1
  str w2, [x1, #8]
3: ldr w2, [x1, #4]
  tbnz w2, #0, 3b
.endm
.macro finish
  put_byte 4
  b .
.endm
.global _start
_start:
"""

LIBRARY = """
send_hex:
  load x12, UART
  mov x13, #60
1: lsr x11, x10, x13
  and x11, x11, #15
  cmp x11, #10
  add x14, x11, #'0'
  add x11, x11, #('a' - 10)
  csel x11, x14, x11, lo
  str w11, [x12]
  subs x13, x13, #4
  b.ge 1b
  mov w11, #10
  str w11, [x12]
  ret
report:
  put_hex x9
  mrs x1, esr_el1
  put_hex x1
  mrs x1, far_el1
  put_hex x1
  mrs x1, elr_el1
  sub x1, x1, x20
  put_hex x1
  mrs x1, spsr_el1
  and x1, x1, #0x3ff
  put_hex x1
  msr elr_el1, x21
  eret
.ltorg
.align 11
vectors:
.set offset, 0
.rept 16
  .balign 128
  mov x9, #offset
  b report
  .set offset, offset + 128
.endr
"""


@dataclass(frozen=True)
class Run:
    """One finished run of the simulator."""

    exit_code: int
    uart: str
    stdout: str
    stderr: str

    @property
    def numbers(self) -> list[int]:
        """The numbers that the program sent with `put_hex`."""
        return [int(line, 16) for line in self.uart.rstrip("\x04").split()]


@dataclass(frozen=True)
class Assembler:
    """Makes programs in a folder that all workers of one test run share."""

    folder: Path

    def assemble(self, program: str) -> Path:
        """Return the ELF file of a program that starts at `_start`."""
        source = PRELUDE + program + LIBRARY
        elf = self.folder / f"{hashlib.sha256(source.encode()).hexdigest()[:16]}.elf"
        with FileLock(self.folder / "lock"):
            if not elf.exists():
                self._build(source, elf)
        return elf

    def _build(self, source: str, elf: Path) -> None:
        script, assembly = self.folder / "link.ld", elf.with_suffix(".S")
        script.write_text(LINKER_SCRIPT)
        assembly.write_text(source)
        caches = {name: str(self.folder / "zig") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
        target = ["-target", "aarch64-freestanding-none", "-mcpu=generic", "-nostdlib", "-static"]
        command = [sys.executable, "-m", "ziglang", "cc", *target, f"-Wl,-T,{script}"]
        subprocess.run(
            [*command, "-o", str(elf), str(assembly)],
            env=os.environ | caches,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )


@dataclass(frozen=True)
class Simulator:
    """Runs programs, in this process or as a program of their own."""

    assembler: Assembler
    uart_file: Path
    capture: pytest.CaptureFixture[str]

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command that runs `program` in a process of its own until it sends EOT."""
        options = ["-q", "-C", "host.uart0.shutdown_on_eot=1", *arguments]
        return [*PROGRAM, *options, str(self.assembler.assemble(program))]

    def run(self, program: str, *arguments: str, entry_el: int = 1, quiet: bool = True) -> Run:
        """Run `program` to its end, in this process, which is fifty times as fast to start."""
        parameters = {
            "host.cpu.entry_el": entry_el,
            "host.uart0.shutdown_on_eot": 1,
            "host.uart0.out_file": self.uart_file,
        }
        settings = [word for name, value in parameters.items() for word in ("-C", f"{name}={value}")]
        image = str(self.assembler.assemble(program))
        self.capture.readouterr()
        exit_code = main([*settings, *["-q"] * quiet, *arguments, image])
        printed = self.capture.readouterr()
        return Run(exit_code, self.uart_file.read_text("latin-1"), printed.out, printed.err)


@pytest.fixture(scope="session")
def assembler(tmp_path_factory: pytest.TempPathFactory) -> Assembler:
    """The assembler; each program is made once for all tests."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    folder = shared / "simulated-programs"
    folder.mkdir(exist_ok=True)
    return Assembler(folder)


@pytest.fixture
def simulator(assembler: Assembler, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Simulator:
    """The simulator."""
    return Simulator(assembler, tmp_path / "uart", capfd)


Execute = Callable[..., Run]


@pytest.fixture
def execute(simulator: Simulator) -> Execute:
    """Run a program that must end by EOT, and return what it sent."""

    def run(program: str, *arguments: str, entry_el: int = 1) -> Run:
        result = simulator.run(program, *arguments, entry_el=entry_el)
        assert result.exit_code == 0, result.stderr
        assert result.stderr == ""
        return result

    return run
