"""The terminals made known: lines on stdout, and the commands that are told the ports."""

from __future__ import annotations

import os

from harness.sim.terminal import Terminal
from harness.testing.fvp import texts
from harness.testing.fvp.boot import SECURE
from harness.testing.fvp.model import Model
from harness.testing.symptoms import Symptom

LATE = 0.4  # seconds
BETWEEN_PARTS = 0.05  # seconds, so that a reader sees the first part alone
DIGITS_APART = 2
WITHOUT_COMMANDS = {
    Symptom.NO_CALLBACK,
    Symptom.LATE_PORTS,
    Symptom.GLUED_PORTS,
    Symptom.HALF_PORT,
    Symptom.NEW_FORM,
    Symptom.MISSING_PORT,
}
"""Symptoms of the announcements, which nobody would see who is told the ports by the commands."""


def announce(model: Model) -> None:
    """Announce every terminal."""
    if model.has(Symptom.LATE_PORTS):
        model.wait(LATE)
    terminals = list(model.terminals.values())
    if model.has(Symptom.SHUFFLED_PORTS):
        terminals.reverse()
    if model.has(Symptom.MISSING_PORT):
        terminals = [terminal for terminal in terminals if terminal.settings.name != SECURE]
    lines = [terminal.announcement for terminal in terminals if not terminal.settings.quiet]
    if model.has(Symptom.NEW_FORM):
        lines = [f"INFO: {texts.INSTANCE}: {line}" for line in lines]
    _print(model, lines)
    if not WITHOUT_COMMANDS & model.behaviour.symptoms:
        _run_commands(model, terminals)


def _run_commands(model: Model, terminals: list[Terminal]) -> None:
    for terminal in terminals:
        if terminal.settings.start_telnet:
            if terminal.settings.terminal_command:
                _run(model, terminal)
            elif "DISPLAY" not in os.environ:
                model.complain(texts.NO_DISPLAY)


def _run(model: Model, terminal: Terminal) -> None:
    try:
        terminal.run_command()
    except OSError as error:
        model.complain(texts.error(f"terminal_command of {terminal.settings.name}: {error.strerror}"))


def _print(model: Model, lines: list[str]) -> None:
    if model.has(Symptom.HALF_PORT):
        for line in lines:
            model.print(line[:-DIGITS_APART])
            model.wait(BETWEEN_PARTS)
            model.print(f"{line[-DIGITS_APART:]}\n")
        return
    between = "" if model.has(Symptom.GLUED_PORTS) else "\n"
    model.print(between.join(lines) + "\n" if lines else "")
