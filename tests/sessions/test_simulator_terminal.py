"""The built-in simulator is driven by its terminal as an FVP is, and says the same as on standard output."""

from __future__ import annotations

from harness.boards.board import Board
from harness.boards.config import Terminal, load_board
from harness.console.protocol import parse_console
from harness.results.assembly import assemble


def test_records_come_through_a_terminal(plan_and_image, sound, timeless):
    plan, image = plan_and_image
    sim = load_board("sim")
    consoles = {"normal": Terminal(terminal="host.host_terminal_0")}
    config = sim.model_copy(update={"consoles": consoles, "records": "normal"})
    run = Board(config, 256).run(image.elf)
    assert timeless(assemble(parse_console(run.console, plan.nonce, image.build), plan)) == sound
