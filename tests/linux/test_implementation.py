"""An implementation is a command whose program is an AArch64 file of the user's."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.linux.implementation import parse_runner_implementations

ARGUMENTS = "--model_path {model} --inputs {inputs} --num_executions {inferences}"


def elf(path: Path, machine: int = 183) -> Path:
    """An ELF header for a machine; 183 is AArch64."""
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    path.write_bytes(ident + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0))
    return path


@pytest.fixture
def program(tmp_path):
    return elf(tmp_path / "runner")


def parsed(*commands: str):
    return parse_runner_implementations(
        f"runner{number}={command}" for number, command in enumerate(commands)
    )


def test_places_are_filled_in_and_words_stay_words(program):
    first, second = parsed(f"{program} {ARGUMENTS} --note='two words'", f"{program} {ARGUMENTS} {{output}}")
    values = {
        "model": "/mnt/M0.BIN",
        "inputs": "/mnt/I0A0.BIN,/mnt/I0A1.BIN",
        "inferences": "3",
        "output": "/run/o",
    }
    assert first.command("/mnt/P0.ELF", values) == (
        "/mnt/P0.ELF --model_path /mnt/M0.BIN --inputs /mnt/I0A0.BIN,/mnt/I0A1.BIN --num_executions 3 "
        "'--note=two words'"
    )
    assert (first.writes_files, second.writes_files) == (False, True)
    assert first.program == program.read_bytes()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("{program} --inputs {inputs} {inferences}", r"no place for \{model\}"),
        ("{program} {model}", r"no place for \{inputs\}, \{inferences\}"),
        (
            "{program} {model} {inputs} {inferences} {outputs}",
            r"unknown place \{outputs\}; allowed: \{model\}",
        ),
        ("{program} 'unfinished", "is no command: No closing quotation"),
        ("./missing {model} {inputs} {inferences}", "program missing: No such file or directory"),
        ("", "not of the form NAME=COMMAND"),
    ],
)
def test_a_command_that_cannot_work_is_refused_with_the_reason(program, command, said):
    with pytest.raises(UsageError, match=said):
        parsed(command.replace("{program}", str(program)))


def test_a_program_for_another_machine_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is for EM_X86_64, not for EM_AARCH64"):
        parsed(f"{elf(tmp_path / 'runner', machine=62)} {ARGUMENTS}")


def test_a_script_is_no_program(tmp_path):
    (tmp_path / "runner.sh").write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match="no ELF file") as caught:
        parsed(f"{tmp_path / 'runner.sh'} {ARGUMENTS}")
    assert "scripts are not taken" in caught.value.hint


def test_a_comparison_needs_two(program):
    with pytest.raises(UsageError, match="needs two implementations, and 1 is given"):
        parsed(f"{program} {ARGUMENTS}")


def test_a_name_is_given_once(program):
    with pytest.raises(UsageError, match="given twice"):
        parse_runner_implementations([f"same={program} {ARGUMENTS}"] * 2)
