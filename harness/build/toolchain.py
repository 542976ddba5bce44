"""Toolchains: what compiles and links the firmware, and how each is called."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BuildError, UsageError
from harness.processes import run_tool
from harness.zig import ZIG_CC, zig_environment, zig_folders, zig_version

ZIG = "zig"
GCCS = ("aarch64-none-elf-gcc", "aarch64-linux-gnu-gcc")
TOOLCHAINS = (ZIG, *GCCS)
TIMEOUT_SECONDS = 120.0  #: a build from nothing takes 2 s
MAX_ERRORS = 8

# The generic core, although a Cortex-A320 has more: a compiler that knows of SVE uses it, and the simulated
# core has none. Alignment is strict because until the MMU is on all memory is device memory.
_MACHINE = ("-mcpu=generic", "-mstrict-align", "-mgeneral-regs-only")
_LANGUAGE = ("-std=c11", "-O2", "-g", "-ffreestanding", "-fno-pic")
_WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wconversion")
_LINK = ("-nostdlib", "-static", "-Wl,--build-id=none")
_FLAGS = (*_MACHINE, *_LANGUAGE, *_WARNINGS, *_LINK)


@dataclass(frozen=True)
class Toolchain:
    """A C compiler for bare-metal AArch64, ready to be called."""

    name: str
    version: str
    command: tuple[str, ...]  #: the compiler
    flags: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def identity(self) -> str:
        """Name and version, as results report them."""
        return f"{self.name} {self.version}"

    def build(
        self,
        folder: Path,
        sources: Sequence[str],
        includes: Sequence[str],
        linker_script: str,
        output: str,
        system_includes: Sequence[str] = (),
    ) -> None:
        """Compile and link, in `folder`; all paths are relative to it, so nothing depends on where it is.

        What is included from `system_includes` gives no warnings. Raises BuildError with the command and its
        first errors.
        """
        command = (
            *self.command,
            *self.flags,
            *_relative_debug_paths(self, folder),
            *(f"-I{include}" for include in includes),
            *(f"-isystem{include}" for include in system_includes),
            f"-Wl,-T,{linker_script}",
            "-o",
            output,
            *sources,
        )
        try:
            done = run_tool(command, timeout_seconds=TIMEOUT_SECONDS, cwd=folder, env=self.environment)
        except (FileNotFoundError, TimeoutError) as error:
            raise BuildError(f"{self.name}: {error}", evidence=(" ".join(command),)) from error
        if done.status != 0 or not (folder / output).is_file():
            raise BuildError(
                f"{self.identity} could not build the firmware (exit status {done.status})",
                evidence=(" ".join(command), *_first_errors(done.output)),
            )


def find_toolchain(name: str = ZIG) -> Toolchain:
    """The toolchain of this name: `zig` from PyPI, or an installed GCC.

    Raises UsageError for an unknown name and BuildError when it is not installed.
    """
    if name == ZIG:
        return _zig()
    if name in GCCS:
        return _gcc(name)
    raise UsageError(f"unknown toolchain {name!r}; allowed: {', '.join(TOOLCHAINS)}")


def _zig() -> Toolchain:
    return Toolchain(
        name=ZIG,
        version=zig_version(),
        command=ZIG_CC,
        flags=("-target", "aarch64-freestanding-none", *_FLAGS),
        environment=zig_environment(),
    )


def _gcc(name: str) -> Toolchain:
    if shutil.which(name) is None:
        raise BuildError(
            f"the toolchain {name} is missing: there is no such program on the PATH",
            hint="install it, or use zig, which comes with the harness",
        )
    done = run_tool((name, "-dumpfullversion"), timeout_seconds=TIMEOUT_SECONDS)
    return Toolchain(name, done.output.strip(), (name,), _FLAGS, dict(os.environ))


def _relative_debug_paths(toolchain: Toolchain, folder: Path) -> tuple[str, ...]:
    """Flags that keep the places of build folder and compiler out of the debug information."""
    if toolchain.name != ZIG:
        return (f"-ffile-prefix-map={folder}=.",)
    # Not a prefix map for the folder: zig's cache compares flags, and would miss in every new folder.
    return (
        "-fdebug-compilation-dir=.",
        *(f"-fdebug-prefix-map={place}=ziglang" for place in zig_folders()),
    )


def _first_errors(output: str) -> tuple[str, ...]:
    """The lines that say what is wrong; the last lines of the output when none says so."""
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "undefined reference" in line]
    return tuple(errors[:MAX_ERRORS] or lines[-MAX_ERRORS:])
