"""Every known way in which an FVP misbehaves has its verdict, within its deadline."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from harness.console.protocol import parse_console
from harness.errors import BoardError, ConsoleError, UsageError
from harness.results.assembly import assemble
from harness.testing import Symptom

HARMLESS = (
    Symptom.NO_CALLBACK,
    Symptom.LATE_PORTS,
    Symptom.GLUED_PORTS,
    Symptom.HALF_PORT,
    Symptom.NEW_FORM,
    Symptom.STALE_NVM,  # each run starts in a folder of its own
    Symptom.STAYS_AFTER_EOT,
    Symptom.IGNORES_SIGNALS,
    Symptom.SURVIVING_CHILD,
    Symptom.CHATTY,
    Symptom.TELNET_BYTES,
    Symptom.TELNET_NOISE,
    Symptom.ANSI,
    Symptom.BARE_CR,
    Symptom.SPLIT_UTF8,
    Symptom.KERNEL_PANIC,  # of a Linux that is not booted
    Symptom.KERNEL_HANGS,
    Symptom.SHUFFLED_PORTS,
    Symptom.SUBSTRING_NAMES,
    Symptom.IGNORES_SIGTERM,
    Symptom.FOREIGN_PYTHON,
    Symptom.NEEDS_PYTHONHOME,
    Symptom.EARLY_OUTPUT_LOST,
    Symptom.BYTE_BY_BYTE,
)
FATAL = {
    Symptom.MISSING_PORT: "did not say within 2 s on which port its secure console is",
    Symptom.DIES_BEFORE_PORTS: "ended with status 1 before it offered its consoles",
    Symptom.DIES_IN_BOOT: "ended with status 1 before the run was complete",
    Symptom.DIES_IN_RECORD: "ended with status 1 before the run was complete",
    Symptom.LIMIT_REACHED: "stopped at a limit of its model: CPU time has been exceeded",
    Symptom.HANGS_IN_BOOT: "did not show U-Boot's prompt within 3 s",
    Symptom.HANGS_IN_RECORD: "went on for more than 4 s",
    Symptom.DEATH_STRING: r"its enclave console says '\[ERR\] BL2 image failed to validate'",
    Symptom.LOAD_FAILS: r"U-Boot could not do `fatload .*`: Failed to load 'harness.bin'",
    Symptom.SLOW_CONSOLE: "did not show U-Boot's prompt after `fatload",
    Symptom.E549: "E549",
    Symptom.CRASHES_IN_RECORD: "was killed by signal 11 before the run was complete",
    Symptom.ENDS_IN_BOOT: "was closed before it showed U-Boot's prompt|ended with status 0 before",
    Symptom.HANGS_UP: "was closed before it showed U-Boot's prompt",
    Symptom.LIMIT_IN_RECORD: "stopped at a limit of its model: CPU time has been exceeded",
    Symptom.HOST_PORT_TAKEN: "ended with status 1 before it offered its consoles",
    Symptom.ENCLAVE_FATAL: "its enclave console says 'FATAL ERROR: SecureFault'",
    Symptom.FIRMWARE_PANIC: "its secure console says 'Unhandled Exception in EL3.'",
}
BROKEN = {
    Symptom.EXIT_CODE_LOST: "damaged record|ends after record",
    Symptom.TAIL_LOST: "damaged record|ends after record",
}
NOT_STARTED = {Symptom.RENAMED_PARAMETER: "board.xnvm_size"}
DEADLINES = {
    Symptom.MISSING_PORT: {"start_seconds": 2},
    Symptom.HANGS_IN_BOOT: {"boot_seconds": 3},
    Symptom.HANGS_IN_RECORD: {"run_seconds": 4},
    Symptom.SLOW_CONSOLE: {"start_seconds": 6},
}
EVERY_RUN = {Symptom.GLUED_PORTS, Symptom.CHATTY, Symptom.DEATH_STRING, Symptom.DIES_IN_RECORD}
DEADLINE_SECONDS = 25  #: above all deadlines of the board together


def cases(symptoms: Mapping[Symptom, str]) -> list[Any]:
    """Parameters for each symptom, with what is said of it; most are left to the proof."""
    return [
        pytest.param(symptom, said, id=symptom.value, marks=[] if symptom in EVERY_RUN else pytest.mark.proof)
        for symptom, said in symptoms.items()
    ]


def test_every_symptom_has_its_verdict():
    assert {*HARMLESS, *FATAL, *BROKEN, *NOT_STARTED} == set(Symptom)


@pytest.mark.parametrize(("symptom", "_said"), cases(dict.fromkeys(HARMLESS, "")))
def test_what_is_harmless_changes_no_record(run_on, sound, symptom, _said):
    assert run_on(symptom) == sound


@pytest.mark.parametrize(("symptom", "said"), cases(FATAL))
def test_what_is_fatal_is_named_in_time(run_on, symptom, said):
    started = time.monotonic()
    with pytest.raises(BoardError, match=said) as caught:
        run_on(symptom, deadlines=DEADLINES.get(symptom, {}))
    assert time.monotonic() - started < DEADLINE_SECONDS
    assert caught.value.evidence or caught.value.hint


@pytest.mark.parametrize(("symptom", "said"), cases(BROKEN))
def test_records_that_do_not_come_are_no_pass_whatever_the_status(run_on, symptom, said):
    with pytest.raises(ConsoleError, match=said):
        run_on(symptom)


@pytest.mark.parametrize(("symptom", "said"), cases(NOT_STARTED))
def test_a_parameter_that_this_version_does_not_have_is_named_before_the_start(run_on, symptom, said):
    with pytest.raises(UsageError, match=said):
        run_on(symptom)


@pytest.mark.proof
def test_a_slow_console_is_typed_to_slowly(fvp, plan_and_image, sound, timeless):
    plan, image = plan_and_image
    board = fvp(Symptom.SLOW_CONSOLE)
    patient = board.config.boot.model_copy(update={"character_delay_seconds": 0.01})
    run = replace(board, config=board.config.model_copy(update={"boot": patient})).run(image.elf)
    assert timeless(assemble(parse_console(run.console, plan.nonce, image.build), plan)) == sound
