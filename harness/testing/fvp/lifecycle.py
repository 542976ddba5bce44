"""A model's life after its start: the boot chain, U-Boot, and what U-Boot starts."""

from __future__ import annotations

from pathlib import Path

from harness.testing.fvp import texts
from harness.testing.fvp.boot import (
    BOOT_ROM_LINES,
    ENCLAVE,
    FIRST_BOOTS,
    NO_IMAGE,
    NORMAL,
    PROVISIONING,
    RELEASES,
    SECURE,
    before_bl31,
    enclave_boot,
    from_bl31,
)
from harness.testing.fvp.commandline import FLASH
from harness.testing.fvp.memory import LoadedMemory
from harness.testing.fvp.mishaps import Moment, reach
from harness.testing.fvp.model import Model
from harness.testing.fvp.parameters import BOOT_ROM, CARDS, TABLE
from harness.testing.fvp.uboot import Boot, Go, Reset, UBoot
from harness.testing.symptoms import Symptom

BOOT_LINES = 36  # of all consoles, from a first reset to U-Boot's countdown
NVM_IMAGE = Path("nvm_image.bin")  # in the model's working directory
ABORT = (
    '"Synchronous Abort" handler, esr 0x02000000, far 0x0',
    "Resetting CPU ...",
    "### ERROR ### Please RESET the board ###",
)


def live(model: Model) -> None:
    """Run until Ended or Interrupted is raised."""
    memory = LoadedMemory()
    for file in model.options.data:
        if file.instance != FLASH:
            memory.write(file.address, file.path.read_bytes())
    if model.options.applications:
        _run_applications(model, memory)
    cards = _cards(model)
    while True:
        _boot_chain(model)
        try:
            UBoot(model, memory, cards).run()
        except Reset:
            continue
        except Go as go:
            _go(model, memory, go.address)
        except Boot:
            _run_linux(model, cards)


def _boot_chain(model: Model) -> None:
    release = RELEASES[model.behaviour.release]
    if not model.parameter(BOOT_ROM):
        model.wait(None)  # the secure enclave has nothing to run
    is_first = not NVM_IMAGE.exists()
    for _ in range(FIRST_BOOTS if is_first else 0):
        _show(model, ENCLAVE, BOOT_ROM_LINES[:2] + PROVISIONING)
    if is_first:
        NVM_IMAGE.write_bytes(b"provisioned\n")
    elif model.has(Symptom.STALE_NVM):
        _show(model, ENCLAVE, BOOT_ROM_LINES[:1])
        model.wait(None)
    _show(model, ENCLAVE, BOOT_ROM_LINES)
    if not any(file.instance == FLASH for file in model.options.data):
        _show(model, ENCLAVE, NO_IMAGE)
        model.wait(None)
    reach(model, Moment.BL2)
    _show(model, ENCLAVE, enclave_boot(release))
    _show(model, SECURE, before_bl31(release))
    reach(model, Moment.BEFORE_BL31)
    _show(model, SECURE, from_bl31(release))
    reach(model, Moment.AFTER_BL31)


def _show(model: Model, console: str, lines: tuple[str, ...]) -> None:
    for line in lines:
        model.wait(model.behaviour.boot_seconds / BOOT_LINES)
        model.say(console, line)


def _cards(model: Model) -> dict[int, Path]:
    """Return U-Boot's number → image of every card that is in its slot."""
    cards = {}
    for number, card in enumerate(CARDS):
        name = f"{card}.p_mmc_file"
        image = Path(str(model.parameter(name)))
        if image.is_file():
            cards[number] = image
        elif model.parameter(name) != TABLE[name].default:
            model.complain(texts.cannot_stat(image))
    return cards


def _go(model: Model, memory: LoadedMemory, address: int) -> None:
    from harness.testing.fvp.platform import run_program

    _abort(model, run_program(model, memory, address))


def _run_applications(model: Model, memory: LoadedMemory) -> None:
    from harness.sim.image import read_elf
    from harness.testing.fvp.platform import run_application

    why = run_application(model, memory, read_elf(model.options.applications[-1]))
    model.complain(f"{why}\n")
    model.wait(None)  # the core has stopped, and the model goes on


def _abort(model: Model, why: str) -> None:
    """The program did what nobody handles: U-Boot's vectors say so, and nothing follows.

    The reason, which no FVP tells, goes to stderr.
    """
    model.complain(f"{why}\n")
    _show(model, NORMAL, ABORT)
    model.wait(None)


def _run_linux(model: Model, cards: dict[int, Path]) -> None:
    from harness.testing.fvp.linux import run_linux

    run_linux(model, cards)
