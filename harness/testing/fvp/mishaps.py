"""What befalls a model at a certain moment of its run: a table of symptoms, and where each one strikes."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from enum import Enum, auto

from harness.testing.fvp import texts
from harness.testing.fvp.boot import ENCLAVE, NORMAL, SECURE
from harness.testing.fvp.model import Ended, Model
from harness.testing.symptoms import Symptom

CHATTER = "Info: cluster: the model has something to say about its caches, again and again"
CHATTY_LINES = 12_000  # 1 MB each, against 64 KiB of a pipe and what a kernel keeps for an idle client


class Moment(Enum):
    """A point in a model's run."""

    BEFORE_PORTS = auto()
    BL2 = auto()  #: TF-M looks for it
    BEFORE_BL31 = auto()
    AFTER_BL31 = auto()
    IN_RECORD = auto()  #: the program has printed half a line
    KERNEL = auto()  #: Linux has begun


def _die(_model: Model) -> None:
    raise Ended(1)


def _end_well(_model: Model) -> None:
    raise Ended(0)


def _crash(_model: Model) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), signal.SIGSEGV)


def _meet_limit(_model: Model) -> None:
    raise Ended(0, texts.limit(texts.HOST_TIME))


def _hang(model: Model) -> None:
    model.wait(None)


def _talk(model: Model) -> None:
    """Fill stdout and every console, once somebody is there to read it."""
    model.print(f"{CHATTER}\n" * CHATTY_LINES)
    for console in (ENCLAVE, SECURE, NORMAL):
        model.wait_for_client(console)
        model.transmit(console, f"{CHATTER}\r\n".encode() * CHATTY_LINES)


def _refuse_host_port(model: Model) -> None:
    model.complain(texts.error("user networking: host port 2222: Address already in use"))
    raise Ended(1)


def _hang_up(model: Model) -> None:
    model.wait_for_client(NORMAL)
    model.hang_up(NORMAL)


def _stop_with(console: str, *lines: str) -> Callable[[Model], None]:
    def happen(model: Model) -> None:
        for line in lines:
            model.say(console, line)
        model.wait(None)

    return happen


# In the order in which they strike, should several have the same moment.
TABLE: dict[Symptom, tuple[Moment, Callable[[Model], None]]] = {
    Symptom.HOST_PORT_TAKEN: (Moment.BEFORE_PORTS, _refuse_host_port),
    Symptom.DIES_BEFORE_PORTS: (Moment.BEFORE_PORTS, _die),
    Symptom.DEATH_STRING: (Moment.BL2, _stop_with(ENCLAVE, "[ERR] BL2 image failed to validate")),
    Symptom.ENCLAVE_FATAL: (
        Moment.BEFORE_BL31,
        _stop_with(ENCLAVE, "FATAL ERROR: SecureFault", "    CFSR: 0x00000001"),
    ),
    Symptom.FIRMWARE_PANIC: (
        Moment.BEFORE_BL31,
        _stop_with(SECURE, "Unhandled Exception in EL3.", "x30            = 0x00000000062037a4"),
    ),
    Symptom.HANGS_UP: (Moment.BEFORE_BL31, _hang_up),
    Symptom.DIES_IN_BOOT: (Moment.BEFORE_BL31, _die),
    Symptom.ENDS_IN_BOOT: (Moment.BEFORE_BL31, _end_well),
    Symptom.LIMIT_REACHED: (Moment.BEFORE_BL31, _meet_limit),
    Symptom.CHATTY: (Moment.AFTER_BL31, _talk),
    Symptom.HANGS_IN_BOOT: (Moment.AFTER_BL31, _hang),
    Symptom.DIES_IN_RECORD: (Moment.IN_RECORD, _die),
    Symptom.CRASHES_IN_RECORD: (Moment.IN_RECORD, _crash),
    Symptom.EXIT_CODE_LOST: (Moment.IN_RECORD, _end_well),
    Symptom.LIMIT_IN_RECORD: (Moment.IN_RECORD, _meet_limit),
    Symptom.HANGS_IN_RECORD: (Moment.IN_RECORD, _hang),
    Symptom.KERNEL_HANGS: (Moment.KERNEL, _hang),
    Symptom.KERNEL_PANIC: (
        Moment.KERNEL,
        _stop_with(
            NORMAL,
            "[    1.402117] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
            "[    1.402240] ---[ end Kernel panic - not syncing ]---",
        ),
    ),
}


def expected(model: Model, moment: Moment) -> bool:
    """Whether anything is going to happen at `moment`."""
    return any(when is moment and model.has(symptom) for symptom, (when, _) in TABLE.items())


def reach(model: Model, moment: Moment) -> None:
    """Have happen what is to happen at `moment`."""
    for symptom, (when, happen) in TABLE.items():
        if when is moment and model.has(symptom):
            happen(model)
