"""The allocator shared by several threads: built for the host, and watched by ThreadSanitizer."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.build.firmware_tree import Edit

HERE = Path(__file__).parent
LOCK = HERE / "threads_lock.c"
COMPILER = ("gcc", "-std=c11", "-g", "-O1", "-fsanitize=thread", "-pthread")
TIMEOUT_SECONDS = 60
RACE_STATUS = 66  #: how a program ends in which ThreadSanitizer has found a data race
SANITIZER_OPTIONS = f"exitcode={RACE_STATUS} halt_on_error=1"

# An older sanitizer finds no place for its shadow memory where a newer kernel randomises addresses as much as
# it does (github.com/google/sanitizers/issues/1716). A container may forbid to switch that off.
LAUNCHERS: tuple[tuple[str, ...], ...] = (("setarch", "-R"), ())


def compile_for_threads(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = (*COMPILER, "-o", str(program), *arguments)
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)


@dataclass(frozen=True)
class Sanitizer:
    """A host compiler with ThreadSanitizer, and how programs that it has built are started."""

    launcher: tuple[str, ...]

    def run(self, program: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.launcher, str(program)],
            env=os.environ | {"TSAN_OPTIONS": SANITIZER_OPTIONS},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )

    def share(self, allocator: Path, lock: Path) -> subprocess.CompletedProcess[str]:
        """Build threads.c with the allocator in this folder and with this lock, and run it."""
        modules = (HERE / "threads.c", lock, allocator / "memory/heap.c", allocator / "memory/temp.c")
        program = allocator / "threads"
        built = compile_for_threads(program, f"-I{allocator}", *map(str, modules))
        assert built.returncode == 0, built.stderr
        return self.run(program)


@pytest.fixture(scope="session")
def sanitizer(tmp_path_factory) -> Sanitizer:
    """ThreadSanitizer of the host's GCC; without one that works the test is skipped."""
    folder = tmp_path_factory.mktemp("sanitizer")
    (folder / "probe.c").write_text("int main(void) { return 0; }\n")
    program = folder / "probe"
    if shutil.which("gcc") is None or compile_for_threads(program, str(folder / "probe.c")).returncode != 0:
        pytest.skip("no gcc with ThreadSanitizer on this host")
    for launcher in LAUNCHERS:
        if launcher and shutil.which(launcher[0]) is None:
            continue
        if Sanitizer(launcher).run(program).returncode == 0:
            return Sanitizer(launcher)
    pytest.skip("ThreadSanitizer does not run on this host")


def test_threads_may_share_an_allocator(sanitizer, write_allocator):
    run = sanitizer.share(write_allocator(), LOCK)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_lock_of_a_program_with_one_thread_is_not_enough(sanitizer, write_allocator):
    allocator = write_allocator()
    run = sanitizer.share(allocator, allocator / "memory/temp_lock.c")
    assert run.returncode == RACE_STATUS
    assert "ThreadSanitizer: data race" in run.stderr


FORGOTTEN_LOCKS = {
    "allocation": (
        Edit(
            "memory/temp.c",
            "    temp_lock_take();\n    struct temp_block *block = take_block(temp, size + extra);\n"
            "    temp_lock_release();\n",
            "    struct temp_block *block = take_block(temp, size + extra);\n",
        ),
    ),
    "reset": (
        Edit("memory/temp.c", "    temp_lock_take();\n    if (rules", "    if (rules"),
        Edit("memory/temp.c", "    }\n    temp_lock_release();\n}", "    }\n}"),
    ),
}


@pytest.mark.parametrize("operation", FORGOTTEN_LOCKS)
def test_an_operation_that_forgets_the_lock_is_a_data_race(sanitizer, write_allocator, operation):
    run = sanitizer.share(write_allocator(*FORGOTTEN_LOCKS[operation]), LOCK)
    assert run.returncode == RACE_STATUS
    assert "ThreadSanitizer: data race" in run.stderr
